/**
 * How large the house may be: files and lines of each top folder and of what each process loads, as `deno task size`
 * counts them. A change that needs more says in its message what it took away instead. A budget only falls, or is raised
 * together with a capability that users asked for.
 *
 * @module
 */

/** `name → [files, lines]`. `house` is everything without tests, fixtures and examples. */
export const BUDGET: Readonly<Record<string, readonly [number, number]>> = Object.freeze({
  house: [1353, 194390],
  agents: [33, 7221],
  bridges: [77, 11178],
  broker: [39, 6790],
  browser: [28, 3071],
  cli: [343, 44287],
  contracts: [77, 8065],
  kernel: [140, 28158],
  "memory-wiki": [145, 24699],
  models: [84, 12612],
  net: [28, 2809],
  port: [18, 1370],
  runner: [12, 1408],
  scripts: [26, 2299],
  service: [45, 7935],
  store: [22, 3032],
  text: [13, 1164],
  "tools-wasm": [178, 22434],
  workspace: [45, 5858],
  "bridges/a2a/client/main.ts": [31, 3313],
  "bridges/mcp/client/main.ts": [35, 4018],
  "bridges/mcp/relay/main.ts": [2, 93],
  "bridges/mcp/tree/main.ts": [45, 5140],
  "browser/main.ts": [36, 3913],
  "cli/main.ts": [612, 80158],
  "kernel/main.ts": [340, 56282],
  "memory-wiki/main.ts": [183, 26492],
  "memory-wiki/parse/main.ts": [36, 5367],
  "models/local/main.ts": [48, 7037],
  "models/main.ts": [23, 2818],
  "models/native/main.ts": [49, 7195],
  "models/remote/main.ts": [59, 7447],
  "net/main.ts": [36, 3509],
  "runner/main.ts": [27, 2654],
  "scripts/release/main.ts": [439, 57749],
  "service/gateway/main.ts": [88, 11280],
  "tools-wasm/build/main.ts": [23, 1940],
  "tools-wasm/exec/prelude/main.ts": [15, 1454],
  "tools-wasm/exec/strip/main.ts": [1, 11],
  "tools-wasm/host/main.ts": [34, 3055],
  "tools-wasm/sdk/adapt/main.ts": [7, 637],
  "workspace/copy/main.ts": [37, 3950],
  "workspace/host/main.ts": [42, 5012],
  "store/postgres/main.ts": [24, 2817],
});
