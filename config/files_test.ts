import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault } from "../contracts/base/mod.ts";
import { fakePowers, runCommandLine } from "../cli/_fixture/world.ts";
import { loadConfig } from "./files.ts";
import { placesOf } from "../launch/disk/places.ts";

const YAML = "version: 1\nmodel: scripted:mine.yaml\nrules:\n  - tool: file_edit\n    mode: auto\n";

Deno.test("a folder's remit.yaml widens only once it is trusted, and no longer when it changes", async () => {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  const folder = powers.environment.cwd;
  const load = (): ReturnType<typeof loadConfig> =>
    loadConfig(powers.disk, places, { folder, mounts: [] });
  Deno.writeTextFileSync(join(folder, "remit.yaml"), YAML);
  assert.equal(load().model, undefined);
  assert.equal(load().policy.rules.length, 0);

  assert.equal(await runCommandLine(["trust"], powers), 0);
  assert.equal(load().model, "scripted:mine.yaml");
  assert.equal(load().policy.rules[0]?.at, `${folder}/remit.yaml:4`);

  Deno.writeTextFileSync(join(folder, "remit.yaml"), `${YAML}strict: false\n`);
  assert.equal(load().model, undefined);

  Deno.writeTextFileSync(join(folder, "remit.yaml"), YAML);
  assert.equal(await runCommandLine(["trust", "--revoke"], powers), 0);
  assert.equal(load().model, undefined);
});

Deno.test("a mounted folder's file narrows also when the command runs elsewhere", () => {
  const powers = fakePowers();
  const desk = join(powers.root, "desk");
  Deno.mkdirSync(desk);
  Deno.writeTextFileSync(
    join(desk, "remit.yaml"),
    "version: 1\nmodel: a:b\nrules:\n  - path: diary/**\n    mode: forbidden\n",
  );
  const merged = loadConfig(powers.disk, placesOf(powers.environment, undefined), {
    folder: powers.environment.cwd,
    mounts: [{ name: "desk", dir: desk }],
  });
  assert.deepEqual(merged.policy.rules.map((rule) => rule.path), [["desk/diary/**"]]);
  assert.equal(merged.model, undefined);
});

Deno.test("the operator's own file needs no trust", () => {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  Deno.mkdirSync(join(powers.root, ".config", "remit"), { recursive: true });
  Deno.writeTextFileSync(places.config, YAML);
  const merged = loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] });
  assert.equal(merged.model, "scripted:mine.yaml");
});

Deno.test("mallory swaps remit.yaml between the look whether it is trusted and the reading: nothing widens", async () => {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  const path = join(powers.environment.cwd, "remit.yaml");
  const mallorys = new TextEncoder().encode(YAML.replace("mine", "mallorys"));
  Deno.writeTextFileSync(path, YAML);
  assert.equal(await runCommandLine(["trust"], powers), 0);
  let reads = 0;
  const disk = {
    real: powers.disk.real,
    read(file: string, options?: { readonly most?: number }) {
      const bytes = powers.disk.read(file, options);
      return file === path && ++reads % 2 === 0 ? mallorys : bytes;
    },
  };
  const load = () => loadConfig(disk, places, { folder: powers.environment.cwd, mounts: [] }).model;
  assert.deepEqual([load(), load()], ["scripted:mine.yaml", undefined]);
});

Deno.test("a remit.yaml of mallory's that has no end, waits, is a folder or is huge is refused at once", async () => {
  const powers = fakePowers();
  const path = join(powers.environment.cwd, "remit.yaml");
  const places = placesOf(powers.environment, undefined);
  const made: Readonly<Record<string, () => void>> = {
    "no plain file": () => Deno.mkdirSync(path),
    "no plain file.": () => Deno.symlinkSync("/dev/zero", path),
    "no plain file..": () => void new Deno.Command("mkfifo", { args: [path] }).outputSync(),
    "more than 1000000 bytes": () => Deno.writeFileSync(path, new Uint8Array(1_000_001)),
  };
  for (const [why, make] of Object.entries(made)) {
    make();
    assert.throws(
      () => loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] }),
      (error) => error instanceof Fault && error.message.includes(why.replaceAll(".", "")),
    );
    assert.notEqual(await runCommandLine(["trust"], powers), 0);
    Deno.removeSync(path);
  }
});
