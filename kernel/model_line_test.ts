import assert from "node:assert/strict";
import type { KernelConfig } from "../contracts/mod.ts";
import { lineOfLocal, lineOfNative } from "./model_line.ts";
import type { Walls } from "./walls.ts";

const MiB = 1024 * 1024;
const config = {
  programs: { deno: "/deno", bwrap: "/bwrap", prlimit: "/prlimit" },
  bundles: { local: "/b/local.js", native: "/b/native.js" },
  denoDir: "/dd",
} as unknown as KernelConfig;
const walls = { bwrap: true, setpriv: false, nice: false, prlimit: true } as Walls;

/** MiB of memory that a start line allows. */
function dataOf({ args }: { readonly args: readonly string[] }): number {
  const [flag = ""] = args.filter((arg) => arg.startsWith("--data="));
  return Number(flag.slice("--data=".length)) / MiB;
}
const native = (weights: number, contextTokens: number): number =>
  dataOf(lineOfNative(config, walls, {
    ...{ addon: "/a/llama.node", weights: "/w.gguf", contextTokens },
    bytes: weights * MiB,
  }));
const local = (weights: number, contextTokens: number): number =>
  dataOf(lineOfLocal(config, walls, { bytes: weights * MiB, contextTokens }));

Deno.test("a native model has room for its weights twice and for keys and values of its context", () => {
  assert.equal(native(100, 4_096), 1_024 + 200 + 512);
  assert.equal(native(2_000, 4_096), 1_024 + 4_000 + 2_000);
  assert.equal(native(2_000, 32_768) - native(2_000, 4_096), 7 * 2_000);
});

Deno.test("a model in WASM has room by its context, and a lexicon, which has none, for itself alone", () => {
  assert.equal(local(1_000, 4_096), 1_792 + 2_000 + 1_000);
  assert.equal(local(1_000, 8_192) - local(1_000, 4_096), 1_000);
  assert.equal(local(10, 0), 1_792 + 20);
});

Deno.test("what runs in WASM, the built-in embedder too, has no right and no network", () => {
  const { args } = lineOfLocal(config, walls, { bytes: 10 * MiB, contextTokens: 0 });
  assert.deepEqual(args.filter((arg) => arg.startsWith("--allow")), []);
  for (const right of ["read", "write", "net", "env", "run", "sys", "ffi"]) {
    assert.ok(args.includes(`--deny-${right}`), right);
  }
});
