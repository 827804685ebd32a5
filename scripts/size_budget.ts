/**
 * How large the house may be: files and lines of each top folder and of what each process loads, as `deno task size`
 * counts them. A change that needs more says in its message what it took away instead. A budget only falls, or is raised
 * together with a capability that users asked for.
 *
 * @module
 */

/** `name → [files, lines]`. `house` is everything without tests, fixtures and examples. */
export const BUDGET: Readonly<Record<string, readonly [number, number]>> = Object.freeze({
  house: [1880, 188041],
  agents: [55, 7435],
  bridges: [141, 11726],
  broker: [67, 6869],
  browser: [36, 3091],
  cli: [431, 46383],
  contracts: [67, 7618],
  ingress: [31, 2260],
  kernel: [221, 26314],
  "memory-wiki": [273, 25400],
  models: [151, 12445],
  net: [36, 2822],
  port: [25, 1386],
  runner: [18, 1410],
  scripts: [25, 1963],
  store: [13, 1336],
  text: [13, 1164],
  "tools-wasm": [226, 22541],
  workspace: [51, 5878],
  "bridges/a2a/client/main.ts": [50, 3328],
  "bridges/mcp/client/main.ts": [57, 4119],
  "bridges/mcp/relay/main.ts": [3, 96],
  "bridges/mcp/tree/main.ts": [81, 8025],
  "browser/main.ts": [48, 3943],
  "cli/main.ts": [670, 69161],
  "ingress/main.ts": [145, 13566],
  "kernel/main.ts": [527, 58496],
  "memory-wiki/main.ts": [314, 29418],
  "memory-wiki/parse/main.ts": [58, 5408],
  "models/local/lexical/build/main.ts": [15, 953],
  "models/local/main.ts": [83, 7522],
  "models/main.ts": [38, 2852],
  "models/native/main.ts": [80, 7329],
  "models/remote/main.ts": [90, 7501],
  "net/main.ts": [46, 3532],
  "runner/main.ts": [39, 2653],
  "tools-wasm/build/main.ts": [25, 1938],
  "tools-wasm/exec/prelude/main.ts": [15, 1454],
  "tools-wasm/exec/strip/main.ts": [1, 11],
  "tools-wasm/host/main.ts": [47, 3091],
  "tools-wasm/sdk/adapt/main.ts": [8, 636],
  "workspace/copy/main.ts": [44, 3977],
  "workspace/host/main.ts": [52, 5048],
});
