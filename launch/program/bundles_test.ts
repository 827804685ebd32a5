import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { provideBundles } from "./bundles_powers.ts";
import { digestSources } from "./source_digest_powers.ts";

function fakeHome(): string {
  const home = Deno.makeTempDirSync({ prefix: "remit-home-" });
  const entries = ["workspace/host", "workspace/copy", "tools-wasm/host"];
  for (const folder of ["kernel", "runner", "models", "net", ...entries]) {
    Deno.mkdirSync(join(home, folder), { recursive: true });
    Deno.writeTextFileSync(join(home, folder, "main.ts"), `const n: number = 1;\nvoid n;\n`);
  }
  Deno.writeTextFileSync(join(home, "deno.json"), '{"nodeModulesDir":"none"}');
  return home;
}

Deno.test("two that build at once end with the same whole bundles, and a third builds nothing", async () => {
  const home = fakeHome();
  const cache = join(Deno.makeTempDirSync(), "cache");
  let built = 0;
  const provide = (): ReturnType<typeof provideBundles> =>
    provideBundles({ home, cache, onBuild: () => built += 1 });
  const [one, two] = await Promise.all([provide(), provide()]);
  assert.deepEqual(one, two);
  const { children } = one;
  for (const path of [one.kernel, ...Object.values(children)]) {
    assert.ok(Deno.statSync(path).isFile);
  }
  const before = built;
  await provide();
  assert.equal(built, before);
  assert.deepEqual([...Deno.readDirSync(cache)].filter((each) => each.name.startsWith(".")), []);
});

Deno.test("any changed source is another bundle; a changed test is not", () => {
  const home = fakeHome();
  const digest = digestSources(home);
  Deno.writeTextFileSync(join(home, "kernel", "main_test.ts"), "x");
  assert.equal(digestSources(home), digest);
  Deno.writeTextFileSync(join(home, "runner", "main.ts"), "const n = 2;\n");
  assert.notEqual(digestSources(home), digest);
});

Deno.test("a program that does not build is a fault, and leaves nothing behind", async () => {
  const home = fakeHome();
  Deno.writeTextFileSync(join(home, "kernel", "main.ts"), "const = ;");
  const cache = join(Deno.makeTempDirSync(), "cache");
  await assert.rejects(
    provideBundles({ home, cache, onBuild: () => undefined }),
    (error: unknown) => error instanceof Fault && error.code === "unavailable",
  );
  assert.deepEqual([...Deno.readDirSync(cache)], []);
});
