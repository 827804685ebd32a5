import assert from "node:assert/strict";
import { join } from "node:path";
import { makeIndexFiles } from "./index_files_powers.ts";
import { type IndexBytes, openIndex } from "./index_file.ts";

const WRITER = new URL("_fixture/endless_writer.ts", import.meta.url).pathname;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;
const KILLS = 6;
const bytesOf = (file: IndexBytes | undefined): readonly number[] => [
  ...file?.read(0, 100) ?? [],
];

Deno.test("a process that is killed while it writes the index leaves a whole one, the last or the one before", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "remit-index-kill-" });
  try {
    for (let kill = 1; kill <= KILLS; kill++) {
      const folder = join(dir, String(kill));
      const flags = [`--allow-read=${folder}`, `--allow-write=${folder}`];
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-prompt", "--no-check", "--config", CONFIG, ...flags, WRITER, folder],
        stdin: "null",
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      const reader = child.stdout.getReader();
      let said = "";
      // Killed at the first news after so many writes: in the middle of the next.
      while ((said.match(/\n/g)?.length ?? 0) < 3 * kill) {
        const { value } = await reader.read();
        assert.ok(value !== undefined, "the writer goes on until it is killed");
        said += new TextDecoder().decode(value);
      }
      child.kill("SIGKILL");
      while (true) {
        const { value } = await reader.read();
        if (value === undefined) break;
        said += new TextDecoder().decode(value);
      }
      assert.equal((await child.status).signal, "SIGKILL");
      const told = Number(said.trimEnd().split("\n").at(-1));
      const bytes = makeIndexFiles(folder).open("pages-internal.idx");
      const kept = bytes === undefined ? undefined : openIndex("internal", bytes);
      assert.ok(kept !== undefined, "what stands under its name is whole");
      assert.ok(kept.generation >= told, `${kept.generation} after ${told} was told`);
      assert.equal(kept.pages.length, kept.generation);
      kept.pages.forEach((_, at) => assert.ok(kept.page(at).sections.length > 0));
      assert.ok(kept.postings("word") !== undefined);
      kept.close();
    }
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
});

Deno.test("what a killed process was writing is taken away by a later one, what is being written is not", () => {
  const dir = Deno.makeTempDirSync({ prefix: "remit-index-" });
  try {
    for (const name of [".a.idx.old", ".a.idx.new"]) Deno.writeTextFileSync(join(dir, name), "x");
    Deno.utimeSync(join(dir, ".a.idx.old"), 1, 1);
    makeIndexFiles(dir).write("a.idx", new Uint8Array([1]));
    const names = [...Deno.readDirSync(dir)].map(({ name }) => name).sort();
    assert.deepEqual(names, [".a.idx.new", "a.idx"]);
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
});

Deno.test("index files are for their owner alone, and drafts do not stay", () => {
  const dir = Deno.makeTempDirSync({ prefix: "remit-index-" });
  try {
    const files = makeIndexFiles(join(dir, "search"));
    assert.equal(files.open("a.idx"), undefined);
    files.write("a.idx", new Uint8Array([1, 2]));
    files.write("a.idx", new Uint8Array([3]));
    const before = files.open("a.idx");
    assert.deepEqual(bytesOf(before), [3]);
    files.write("a.idx", new Uint8Array([4, 5]));
    assert.deepEqual(bytesOf(before), [3], "a file that is open stays what it was");
    before?.close();
    assert.equal((Deno.statSync(join(dir, "search")).mode ?? 0) & 0o777, 0o700);
    assert.equal((Deno.statSync(join(dir, "search/a.idx")).mode ?? 0) & 0o777, 0o600);
    assert.deepEqual([...Deno.readDirSync(join(dir, "search"))].map(({ name }) => name), ["a.idx"]);
    files.remove("a.idx");
    files.remove("a.idx");
    assert.equal(files.open("a.idx"), undefined);
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
});
