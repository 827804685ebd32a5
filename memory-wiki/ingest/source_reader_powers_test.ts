import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { makeSourceReader } from "./source_reader_powers.ts";

const reader = makeSourceReader();

async function folder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-wiki-read-" }));
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

async function code(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(() => undefined, (reason: unknown) => reason);
  assert.ok(error instanceof Fault, String(error));
  return error.code;
}

Deno.test("a regular file is read whole, with what tells it from a later state", async () => {
  await using at = await folder();
  const path = `${at.path}/a.md`;
  await Deno.writeTextFile(path, "hello");
  const { bytes, facts } = await reader.read(path, 5);
  assert.equal(new TextDecoder().decode(bytes), "hello");
  assert.deepEqual(await reader.look(path), facts);
  assert.equal(facts.size, 5);
  assert.equal(await code(reader.read(path, 4)), "tooLarge");
});

Deno.test("mallory's link, linked folder, folder, pipe and device are not read", async () => {
  await using at = await folder();
  await Deno.mkdir(`${at.path}/real`);
  await Deno.writeTextFile(`${at.path}/real/a.md`, "secret");
  await Deno.symlink(`${at.path}/real/a.md`, `${at.path}/link.md`);
  await Deno.symlink(`${at.path}/real`, `${at.path}/linked`);
  const { success } = await new Deno.Command("mkfifo", { args: [`${at.path}/pipe`] }).output();
  assert.ok(success);
  for (const name of ["link.md", "linked/a.md", "real", "pipe", "real/../real/a.md"]) {
    assert.equal(await code(reader.read(`${at.path}/${name}`, 1_000)), "refused", name);
  }
  assert.equal(await code(reader.read("/dev/zero", 1_000)), "refused");
  assert.equal(await code(reader.read(`${at.path}/none.md`, 1_000)), "notFound");
  assert.equal(await code(reader.read(`${at.path}/real/a.md/b`, 1_000)), "notFound");
});

Deno.test("mallory swaps the file for a link again and again: what is read is the file or nothing", async () => {
  await using at = await folder();
  const path = `${at.path}/a.md`;
  await Deno.writeTextFile(`${at.path}/theirs`, "theirs");
  await Deno.symlink(`${at.path}/theirs`, `${at.path}/link`);
  await Deno.writeTextFile(`${at.path}/ours`, "ours!!");
  let swapping = true;
  const swapper = (async () => {
    while (swapping) {
      await Deno.link(`${at.path}/ours`, `${at.path}/x`);
      await Deno.rename(`${at.path}/x`, path);
      await Deno.symlink(`${at.path}/theirs`, `${at.path}/x`);
      await Deno.rename(`${at.path}/x`, path);
    }
  })();
  const seen = new Set<string>();
  for (let n = 0; n < 300; n++) {
    try {
      seen.add(new TextDecoder().decode((await reader.read(path, 100)).bytes));
    } catch (error) {
      assert.ok(error instanceof Fault);
      seen.add(error.code);
    }
  }
  swapping = false;
  await swapper;
  assert.ok(!seen.has("theirs"), [...seen].join());
  assert.ok(seen.size > 1, "the race was never met");
});
