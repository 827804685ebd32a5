import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault } from "../contracts/base/mod.ts";
import { fakeHands, runCommandLine } from "../cli/_fixture/world.ts";
import { loadConfig } from "./files.ts";
import { placesOf } from "../launch/disk/places.ts";

const YAML = "version: 1\nmodel: scripted:mine.yaml\nrules:\n  - tool: file_edit\n    mode: auto\n";

Deno.test("a folder's remit.yaml widens only once it is trusted, and no longer when it changes", async () => {
  const hands = fakeHands();
  const places = placesOf(hands.around, undefined);
  const folder = hands.around.cwd;
  const load = (): ReturnType<typeof loadConfig> =>
    loadConfig(hands.disk, places, { folder, mounts: [] });
  Deno.writeTextFileSync(join(folder, "remit.yaml"), YAML);
  assert.equal(load().model, undefined);
  assert.equal(load().policy.rules.length, 0);

  assert.equal(await runCommandLine(["trust"], hands), 0);
  assert.equal(load().model, "scripted:mine.yaml");
  assert.equal(load().policy.rules[0]?.at, `${folder}/remit.yaml:4`);

  Deno.writeTextFileSync(join(folder, "remit.yaml"), `${YAML}strict: false\n`);
  assert.equal(load().model, undefined);

  Deno.writeTextFileSync(join(folder, "remit.yaml"), YAML);
  assert.equal(await runCommandLine(["trust", "--revoke"], hands), 0);
  assert.equal(load().model, undefined);
});

Deno.test("a mounted folder's file narrows also when the command runs elsewhere", () => {
  const hands = fakeHands();
  const desk = join(hands.root, "desk");
  Deno.mkdirSync(desk);
  Deno.writeTextFileSync(
    join(desk, "remit.yaml"),
    "version: 1\nmodel: a:b\nrules:\n  - path: diary/**\n    mode: forbidden\n",
  );
  const merged = loadConfig(hands.disk, placesOf(hands.around, undefined), {
    folder: hands.around.cwd,
    mounts: [{ name: "desk", dir: desk }],
  });
  assert.deepEqual(merged.policy.rules.map((rule) => rule.path), [["desk/diary/**"]]);
  assert.equal(merged.model, undefined);
});

Deno.test("the operator's own file needs no trust", () => {
  const hands = fakeHands();
  const places = placesOf(hands.around, undefined);
  Deno.mkdirSync(join(hands.root, ".config", "remit"), { recursive: true });
  Deno.writeTextFileSync(places.config, YAML);
  const merged = loadConfig(hands.disk, places, { folder: hands.around.cwd, mounts: [] });
  assert.equal(merged.model, "scripted:mine.yaml");
});

Deno.test("mallory swaps remit.yaml between the look whether it is trusted and the reading: nothing widens", async () => {
  const hands = fakeHands();
  const places = placesOf(hands.around, undefined);
  const path = join(hands.around.cwd, "remit.yaml");
  const mallorys = new TextEncoder().encode(YAML.replace("mine", "mallorys"));
  Deno.writeTextFileSync(path, YAML);
  assert.equal(await runCommandLine(["trust"], hands), 0);
  let reads = 0;
  const disk = {
    real: hands.disk.real,
    read(file: string, options?: { readonly most?: number }) {
      const bytes = hands.disk.read(file, options);
      return file === path && ++reads % 2 === 0 ? mallorys : bytes;
    },
  };
  const load = () => loadConfig(disk, places, { folder: hands.around.cwd, mounts: [] }).model;
  assert.deepEqual([load(), load()], ["scripted:mine.yaml", undefined]);
});

Deno.test("a remit.yaml of mallory's that has no end, waits, is a folder or is huge is refused at once", async () => {
  const hands = fakeHands();
  const path = join(hands.around.cwd, "remit.yaml");
  const places = placesOf(hands.around, undefined);
  const made: Readonly<Record<string, () => void>> = {
    "no plain file": () => Deno.mkdirSync(path),
    "no plain file.": () => Deno.symlinkSync("/dev/zero", path),
    "no plain file..": () => void new Deno.Command("mkfifo", { args: [path] }).outputSync(),
    "more than 1000000 bytes": () => Deno.writeFileSync(path, new Uint8Array(1_000_001)),
  };
  for (const [why, make] of Object.entries(made)) {
    make();
    assert.throws(
      () => loadConfig(hands.disk, places, { folder: hands.around.cwd, mounts: [] }),
      (error) => error instanceof Fault && error.message.includes(why.replaceAll(".", "")),
    );
    assert.notEqual(await runCommandLine(["trust"], hands), 0);
    Deno.removeSync(path);
  }
});
