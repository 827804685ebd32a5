import { join } from "node:path";
import type { NativeBuild } from "../../../contracts/model/mod.ts";
import { fakePowers, runCommandLine } from "../../../cli/_fixture/world.ts";
import { fakeModels } from "../../../cli/_fixture/models.ts";
import { isSealed, makeNativeEngine, seal } from "./engine_powers.ts";
import { ENGINE_VERSION, engineBuild, NATIVE_BUILDS } from "../builds.ts";
import type { NativeEngine } from "../powers.ts";
import assert from "node:assert/strict";

type Given = ReturnType<typeof fakePowers>;

const shown = (powers: Given): string => [...powers.screen.outs, ...powers.screen.lines].join("\n");
const jsonOf = (powers: Given): unknown => JSON.parse(powers.screen.outs.at(-1) ?? "null");
const LINUX = { os: "linux", arch: "x86_64" };

Deno.test("each build of the native engine is fetched by its own name, and listed", async () => {
  const fetched: string[] = [];
  const engineFor = (build: NativeBuild): NativeEngine => ({
    offer: { package: `the-engine-${build}`, about: "llama.cpp" },
    found: () => fetched.includes(build) ? `/cache/${build}` : undefined,
    fetch() {
      fetched.push(build);
      return Promise.resolve({ folder: `/cache/${build}`, bytes: 30_000_000, files: 20 });
    },
  });
  const engines = { cpu: engineFor("cpu"), cuda: engineFor("cuda"), vulkan: engineFor("vulkan") };
  const powers = fakePowers({ models: fakeModels({ engines }) });
  const accelerate = (...more: string[]): Promise<number> =>
    runCommandLine(["model", "accelerate", ...more], powers);
  assert.equal(await accelerate("--gpu", "vulkan", "--yes"), 0);
  assert.match(shown(powers), /for vulkan: npm package the-engine-vulkan/);
  assert.match(shown(powers), /sees its own folder, the card with its driver and one file/);
  assert.match(shown(powers), /"accelerated: vulkan" in its entry/);
  assert.equal(await accelerate("--gpu", "cuda", "--yes", "--json"), 0);
  assert.deepEqual(jsonOf(powers), {
    ...{ folder: "/cache/cuda", build: "cuda", bytes: 30_000_000, files: 20, fetched: true },
  });
  assert.deepEqual(fetched, ["vulkan", "cuda"]);
  for (const command of [["model", "list"], ["doctor"]]) {
    assert.equal(await runCommandLine(command, powers), 0);
    assert.match(shown(powers), /native engine there for cuda, vulkan;/);
  }
  for (const bad of ["metal", "", "cpu"]) {
    assert.equal(await accelerate("--gpu", bad, "--yes"), 2);
  }
  assert.match(shown(powers), /--gpu is cuda or vulkan/);
  assert.equal(fetched.length, 2);
});

Deno.test("every build is pinned: one version, one SHA-512 for each package, the card's beside CUDA 12's", () => {
  assert.deepEqual(
    NATIVE_BUILDS.map((build) => engineBuild(LINUX, build)?.packages.map(({ name }) => name)),
    [
      ["@node-llama-cpp/linux-x64"],
      ["@node-llama-cpp/linux-x64-cuda", "@node-llama-cpp/linux-x64-cuda-ext"],
      ["@node-llama-cpp/linux-x64-vulkan"],
    ],
  );
  assert.match(ENGINE_VERSION, /^\d+\.\d+\.\d+$/);
  const pins = NATIVE_BUILDS.flatMap((build) => engineBuild(LINUX, build)?.packages ?? [])
    .map(({ integrity }) => integrity);
  for (const pin of pins) {
    assert.match(pin, /^sha512-/);
    assert.equal(atob(pin.slice("sha512-".length)).length, 64);
  }
  assert.equal(new Set(pins).size, 4);
  assert.equal(engineBuild({ os: "linux", arch: "aarch64" }, "cuda"), undefined);
  assert.equal(engineBuild({ os: "darwin", arch: "aarch64" }, "cpu"), undefined);
});

Deno.test("where there is no build of it, an engine is neither offered nor fetched", async () => {
  const machine = { os: "linux", arch: "aarch64" };
  const engine = makeNativeEngine({ cache: () => "/nowhere", build: "vulkan", machine });
  assert.deepEqual([engine.offer, engine.found()], [undefined, undefined]);
  await assert.rejects(
    engine.fetch(),
    /\(vulkan\): there is none for this system.*"remit model accelerate"/,
  );
});

Deno.test("an engine whose files are not what was sealed, also beneath its folder, counts as not fetched", () => {
  const cache = Deno.makeTempDirSync({ prefix: "remit-engine-" });
  try {
    const build = engineBuild(LINUX, "cuda");
    assert.ok(build !== undefined);
    const folder = join(cache, "native-cuda");
    const engine = makeNativeEngine({ cache: () => cache, build: "cuda", machine: LINUX });
    const put = (name: string, text: string): void =>
      Deno.writeTextFileSync(join(folder, name), text);
    Deno.mkdirSync(join(folder, "fallback"), { recursive: true });
    assert.equal(engine.found(), undefined);
    put("llama-addon.node", "addon");
    put("fallback/libggml-cuda.so", "twelve");
    assert.equal(engine.found(), undefined);
    assert.deepEqual(seal(folder, build), { files: 2, bytes: 11 });
    assert.equal(engine.found(), folder);
    // The seal of one build says nothing of another.
    for (const other of ["cpu", "vulkan"] as const) {
      const found = engineBuild(LINUX, other);
      assert.ok(found !== undefined && !isSealed(folder, found, "llama-addon.node"), other);
    }
    assert.ok(!isSealed(folder, build, "other.node"));
    put("fallback/libggml-cuda.so", "twelvE");
    assert.equal(engine.found(), undefined);
    put("fallback/libggml-cuda.so", "twelve");
    assert.equal(engine.found(), folder);
    put("fallback/more.so", "");
    assert.equal(engine.found(), undefined);
    Deno.removeSync(join(folder, "fallback"), { recursive: true });
    assert.equal(engine.found(), undefined);
    put("remit.json", "{");
    assert.equal(engine.found(), undefined);
  } finally {
    Deno.removeSync(cache, { recursive: true });
  }
});
