import assert from "node:assert/strict";
import { NO_POLICY } from "../../contracts/policy/mod.ts";
import { PluginManifest } from "../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { kernelFlags } from "./start_powers.ts";

const config = (more: Partial<KernelConfig> = {}): KernelConfig => ({
  dir: "/s/kernel",
  runtime: "/r",
  bundles: {
    worker: "/c/worker.js",
    toolhost: "/c/toolhost.js",
    model: "/c/model.js",
    plugin: "/c/plugin.js",
    net: "/c/net.js",
    copy: "/c/copy.js",
    browser: "",
    remote: "",
    local: "",
    native: "",
    wiki: "",
    mcp: "",
    mcpTree: "",
    mcpRelay: "",
    store: "",
    a2a: "",
    agentClient: "",
    agentRelay: "",
  },
  weights: "/s/models",
  addon: "",
  tools: { plugins: [] },
  secrets: [],
  secretsDigest: "",
  commands: [],
  browser: { engine: "static", program: "/usr/bin/chromium" },
  programs: { deno: "/bin/deno", bwrap: "/bin/bwrap" },
  denoDir: "/c/deno",
  personKey: "k",
  policy: NO_POLICY,
  harness: "h",
  brokerSockets: ["/r/b0"],
  proxySockets: [],
  mcpTrees: "/s/mcp/trees",
  controlSocket: "/r/control",
  stay: false,
  idleMs: 1,
  pool: { workers: 1, plugins: 0 },
  ...more,
});

Deno.test("a kernel gets its own folders, its programs, its sockets, and no word more", () => {
  assert.deepEqual(kernelFlags(config(), { bundle: "/c/kernel.js", mounts: ["/home/alice"] }), [
    "run",
    "--quiet",
    "--no-prompt",
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--no-npm",
    "--cached-only",
    "--ignore-env",
    "--v8-flags=--max-semi-space-size=2,--heap-growing-percent=20",
    "--allow-read=/s/kernel,/r,/s/models,/c/deno/location_data",
    "--allow-write=/s/kernel,/r",
    "--allow-run=/bin/deno,/bin/bwrap",
    "--allow-net=unix:/r/control,unix:/r/b0",
    "/c/kernel.js",
  ]);
});

Deno.test("without bubblewrap it may read the declared mounts, and still not write them", () => {
  const flags = kernelFlags(config({ programs: { deno: "/bin/deno" } }), {
    bundle: "/c/kernel.js",
    mounts: ["/home/alice"],
  });
  assert.ok(
    flags.includes("--allow-read=/s/kernel,/r,/s/models,/c/deno/location_data,/home/alice"),
  );
  assert.ok(flags.includes("--allow-write=/s/kernel,/r"));
});

Deno.test("mallory's comma in a folder's name grants no second folder", () => {
  const options = { bundle: "/c/kernel.js", mounts: [] };
  assert.throws(() => kernelFlags(config({ dir: "/s,/etc" }), options), /comma/);
});

Deno.test("it may read the code of plugins, file by file, and not the folder that they lie in", () => {
  const manifest = PluginManifest.parse({
    name: "alpha",
    version: "1.0.0",
    licence: "MIT",
    engine: "script",
    sha256: "a".repeat(64),
    tools: [{ name: "alpha", description: "does it", parameters: {} }],
    memoryPages: 16,
  });
  const tools: KernelConfig["tools"] = {
    engine: { file: "/t/exec.wasm", sha256: "b".repeat(64) },
    plugins: [{ manifest, file: "/s/person/tools/alpha/plugin.js", trusted: false }],
  };
  const flags = kernelFlags(config({ tools }), { bundle: "/c/kernel.js", mounts: [] });
  assert.ok(flags.includes(
    "--allow-read=/s/kernel,/r,/s/models,/c/deno/location_data,/t/exec.wasm,/s/person/tools/alpha/plugin.js",
  ));
});
