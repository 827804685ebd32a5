/**
 * How large the house may be: files and lines of each top folder and of what each process loads, as `deno task size`
 * counts them. A change that needs more says in its message what it took away instead. A budget only falls, or is raised
 * together with a capability that users asked for.
 *
 * @module
 */

/** `name → [files, lines]`. `house` is everything without tests, fixtures and examples. */
export const BUDGET: Readonly<Record<string, readonly [number, number]>> = Object.freeze({
  house: [1592, 187905],
  agents: [34, 7297],
  bridges: [80, 11429],
  broker: [41, 6805],
  browser: [36, 3091],
  cli: [331, 41354],
  contracts: [67, 7618],
  kernel: [136, 26052],
  "memory-wiki": [273, 25400],
  models: [151, 12445],
  net: [36, 2822],
  port: [20, 1369],
  runner: [18, 1410],
  scripts: [25, 1986],
  service: [45, 7934],
  store: [9, 1310],
  text: [13, 1164],
  "tools-wasm": [226, 22541],
  workspace: [51, 5878],
  "bridges/a2a/client/main.ts": [32, 3309],
  "bridges/mcp/client/main.ts": [36, 4009],
  "bridges/mcp/relay/main.ts": [2, 93],
  "bridges/mcp/tree/main.ts": [74, 8011],
  "browser/main.ts": [44, 3930],
  "cli/main.ts": [572, 69826],
  "kernel/main.ts": [374, 58075],
  "memory-wiki/main.ts": [309, 29401],
  "memory-wiki/parse/main.ts": [54, 5395],
  "models/local/lexical/build/main.ts": [15, 953],
  "models/local/main.ts": [78, 7505],
  "models/main.ts": [34, 2839],
  "models/native/main.ts": [75, 7312],
  "models/remote/main.ts": [86, 7488],
  "net/main.ts": [42, 3519],
  "runner/main.ts": [34, 2636],
  "service/gateway/main.ts": [107, 13499],
  "tools-wasm/build/main.ts": [25, 1938],
  "tools-wasm/exec/prelude/main.ts": [15, 1454],
  "tools-wasm/exec/strip/main.ts": [1, 11],
  "tools-wasm/host/main.ts": [42, 3074],
  "tools-wasm/sdk/adapt/main.ts": [8, 636],
  "workspace/copy/main.ts": [40, 3964],
  "workspace/host/main.ts": [48, 5035],
});
