/**
 * How large the house may be: files and lines of each top folder and of what each process loads, as `deno task size`
 * counts them. A change that needs more says in its message what it took away instead. A budget only falls, or is raised
 * together with a capability that users asked for.
 *
 * @module
 */

/** `name → [files, lines]`. `house` is everything without tests, fixtures and examples. */
export const BUDGET: Readonly<Record<string, readonly [number, number]>> = Object.freeze({
  house: [1413, 184882],
  agents: [34, 7128],
  bridges: [74, 10576],
  broker: [41, 6706],
  browser: [36, 3091],
  cli: [329, 40866],
  contracts: [66, 7606],
  kernel: [138, 26274],
  "memory-wiki": [146, 24775],
  models: [103, 11178],
  net: [36, 2822],
  port: [20, 1374],
  runner: [18, 1410],
  scripts: [27, 2210],
  service: [46, 7973],
  store: [9, 1310],
  text: [13, 1164],
  "tools-wasm": [226, 22541],
  workspace: [51, 5878],
  "bridges/a2a/client/main.ts": [32, 3309],
  "bridges/mcp/client/main.ts": [36, 4005],
  "bridges/mcp/relay/main.ts": [2, 93],
  "bridges/mcp/tree/main.ts": [74, 8002],
  "browser/main.ts": [44, 3930],
  "cli/main.ts": [562, 69426],
  "kernel/main.ts": [356, 55189],
  "memory-wiki/main.ts": [204, 28888],
  "memory-wiki/parse/main.ts": [39, 5380],
  "models/local/main.ts": [63, 7028],
  "models/main.ts": [28, 2848],
  "models/native/main.ts": [66, 7307],
  "models/remote/main.ts": [73, 7466],
  "net/main.ts": [42, 3519],
  "runner/main.ts": [34, 2636],
  "scripts/release/main.ts": [4, 264],
  "service/gateway/main.ts": [107, 13400],
  "tools-wasm/build/main.ts": [25, 1943],
  "tools-wasm/exec/prelude/main.ts": [15, 1454],
  "tools-wasm/exec/strip/main.ts": [1, 11],
  "tools-wasm/host/main.ts": [42, 3074],
  "tools-wasm/sdk/adapt/main.ts": [8, 636],
  "workspace/copy/main.ts": [40, 3964],
  "workspace/host/main.ts": [48, 5035],
});
