/**
 * How large the house may be: files and lines of each top folder and of what each process loads, as `deno task size`
 * counts them. A change that needs more says in its message what it took away instead. A budget only falls, or is raised
 * together with a capability that users asked for.
 *
 * @module
 */

/** `name → [files, lines]`. `house` is everything without tests, fixtures and examples. */
export const BUDGET: Readonly<Record<string, readonly [number, number]>> = Object.freeze({
  house: [1859, 176209],
  agents: [55, 7152],
  bridges: [141, 11462],
  broker: [66, 6371],
  browser: [36, 3095],
  cli: [430, 44482],
  contracts: [61, 6454],
  ingress: [31, 2265],
  kernel: [215, 23305],
  "memory-wiki": [269, 23714],
  models: [155, 11645],
  net: [36, 2801],
  port: [25, 1386],
  runner: [18, 1386],
  scripts: [25, 1910],
  store: [12, 1072],
  text: [10, 612],
  "tools-wasm": [225, 22146],
  workspace: [49, 4951],
  "bridges/a2a/client/main.ts": [50, 3255],
  "bridges/mcp/client/main.ts": [57, 4095],
  "bridges/mcp/relay/main.ts": [3, 96],
  "bridges/mcp/tree/main.ts": [79, 7523],
  "browser/main.ts": [48, 3946],
  "cli/main.ts": [658, 64894],
  "ingress/main.ts": [143, 13067],
  "kernel/main.ts": [512, 52766],
  "memory-wiki/main.ts": [310, 28031],
  "memory-wiki/parse/main.ts": [53, 4087],
  "models/local/lexical/build/main.ts": [15, 953],
  "models/local/main.ts": [80, 6089],
  "models/main.ts": [38, 2810],
  "models/native/main.ts": [73, 5587],
  "models/remote/main.ts": [90, 6337],
  "net/main.ts": [46, 3512],
  "runner/main.ts": [39, 2630],
  "tools-wasm/build/main.ts": [25, 1909],
  "tools-wasm/exec/prelude/main.ts": [15, 1454],
  "tools-wasm/exec/strip/main.ts": [1, 11],
  "tools-wasm/host/main.ts": [47, 3092],
  "tools-wasm/sdk/adapt/main.ts": [8, 636],
  "workspace/copy/main.ts": [38, 3109],
  "workspace/host/main.ts": [48, 4055],
});
