import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { fakePowers } from "../../cli/_fixture/world.ts";
import { fakeWeights } from "../../cli/_fixture/gguf.ts";
import { placesOf, preparePlaces } from "../../launch/disk/places.ts";
import { bytesText, pinnedWeights, type WeightsParts } from "./pin.ts";
import { dropWeights, listWeights, weightsPath } from "./store.ts";

function makeParts(): WeightsParts & { readonly path: string; readonly said: string[] } {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const path = join(powers.root, "work", "Tiny Model.gguf");
  Deno.writeFileSync(path, fakeWeights());
  const { disk, models, environment, screen } = powers;
  return { disk, models, environment, screen, places, modelKeys: [], path, said: screen.lines };
}

Deno.test("alice's first use of a path pins it, says so, and copies it out of agents' reach", async () => {
  const parts = makeParts();
  const entry = await pinnedWeights(parts, parts.path);
  assert.equal(entry.sha256, sha256Hex(fakeWeights()));
  assert.equal(entry.name, "Tiny-Model");
  assert.equal(entry.licence, "mit", "as the file says");
  assert.match(parts.said.join("\n"), /pinned .*Tiny Model\.gguf: from now on/);
  const kept = weightsPath(parts.places, entry.sha256);
  assert.equal((Deno.statSync(kept).mode ?? 0) & 0o777, 0o400);
  Deno.writeFileSync(parts.path, fakeWeights({ filler: "changed " }));
  assert.equal(sha256Hex(parts.disk.read(kept) ?? ""), entry.sha256, "a copy, not the same file");
});

Deno.test("the same bytes are taken again without a word, also when the file was only touched", async () => {
  const parts = makeParts();
  const entry = await pinnedWeights(parts, parts.path);
  const said = parts.said.length;
  assert.deepEqual(await pinnedWeights(parts, parts.path), entry);
  Deno.utimeSync(parts.path, new Date(5_000), new Date(5_000));
  assert.deepEqual(await pinnedWeights(parts, parts.path), entry);
  assert.equal(parts.said.length, said);
});

Deno.test("mallory's change of a pinned file is refused with both digests and both ways on", async () => {
  const parts = makeParts();
  const entry = await pinnedWeights(parts, parts.path);
  const changed = fakeWeights({ filler: "poisoned" });
  Deno.writeFileSync(parts.path, changed);
  Deno.utimeSync(parts.path, new Date(7_000), new Date(7_000));
  await assert.rejects(pinnedWeights(parts, parts.path), (error) => {
    assert.ok(error instanceof Fault && error.code === "refused");
    assert.match(error.message, /changed since you pinned it/);
    assert.ok(error.message.includes(entry.sha256) && error.message.includes(sha256Hex(changed)));
    assert.match(error.message, /remit model remove Tiny-Model/);
    return true;
  });
  assert.equal(listWeights(parts.disk, parts.places).length, 1);
  dropWeights(parts.disk, parts.places, entry);
  assert.equal((await pinnedWeights(parts, parts.path)).sha256, sha256Hex(changed));
});

Deno.test("two paths with the same bytes are one model; two files of one name are two", async () => {
  const parts = makeParts();
  const first = await pinnedWeights(parts, parts.path);
  const copy = join(parts.places.models, "..", "copy.gguf");
  Deno.copyFileSync(parts.path, copy);
  assert.equal((await pinnedWeights(parts, copy)).name, first.name);
  const folder = Deno.makeTempDirSync({ prefix: "remit-cli-test-" });
  const other = join(folder, "Tiny Model.gguf");
  Deno.writeFileSync(other, fakeWeights({ filler: "others  " }));
  assert.equal((await pinnedWeights(parts, other)).name, "Tiny-Model-2");
});

Deno.test("what is no file of weights is refused, and nothing half-done is left", async () => {
  const parts = makeParts();
  await assert.rejects(
    pinnedWeights(parts, "/nowhere/at/all.gguf"),
    (error) => error instanceof Fault && error.code === "notFound",
  );
  Deno.writeTextFileSync(parts.path, "this is a letter, and no model at all");
  await assert.rejects(pinnedWeights(parts, parts.path), /does not begin with "GGUF"/);
  for (const cut of [1, 8, 9, 300]) {
    const whole = fakeWeights({ filler: "x".repeat(200) });
    Deno.writeFileSync(parts.path, whole.subarray(0, whole.length - cut));
    await assert.rejects(pinnedWeights(parts, parts.path), (error) => {
      assert.ok(error instanceof Fault && error.code === "invalidInput");
      return /Cannot use ".*": (?:the tensor "filler" ends at .*cut off|it ends within)/.test(
        error.message,
      );
    });
  }
  assert.deepEqual(parts.disk.list(parts.places.models), []);
});

Deno.test("a damaged entry of the store is named with what to do", async () => {
  const parts = makeParts();
  const entry = await pinnedWeights(parts, parts.path);
  const path = join(parts.places.models, `${entry.sha256}.json`);
  Deno.writeTextFileSync(path, "{");
  assert.throws(
    () => listWeights(parts.disk, parts.places),
    (error) =>
      error instanceof Fault && error.code === "storeCorrupt" &&
      error.message.includes("get the weights again"),
  );
});

Deno.test("sizes are written for people", () => {
  assert.deepEqual([5, 1_500, 1_117_320_736, 30_400_000].map(bytesText), [
    "5 bytes",
    "1.50 kB",
    "1.12 GB",
    "30.4 MB",
  ]);
});
