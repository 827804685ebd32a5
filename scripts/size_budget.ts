/**
 * How large the house may be: files and lines of each top folder and of what each process loads, as `deno task size`
 * counts them. A change that needs more says in its message what it took away instead. A budget only falls, or is raised
 * together with a capability that users asked for.
 *
 * @module
 */

/** `name → [files, lines]`. `house` is everything without tests, fixtures and examples. */
export const BUDGET: Readonly<Record<string, readonly [number, number]>> = Object.freeze({
  house: [1393, 199545],
  agents: [33, 7221],
  bridges: [84, 11933],
  broker: [41, 7390],
  browser: [28, 3071],
  cli: [354, 45543],
  contracts: [81, 8332],
  kernel: [146, 29195],
  "memory-wiki": [145, 24830],
  models: [84, 12617],
  net: [28, 2809],
  port: [18, 1370],
  runner: [12, 1408],
  scripts: [27, 2439],
  service: [45, 7941],
  store: [22, 3032],
  text: [14, 1334],
  "tools-wasm": [178, 22434],
  workspace: [45, 5858],
  "bridges/a2a/client/main.ts": [31, 3318],
  "bridges/mcp/client/main.ts": [36, 4075],
  "bridges/mcp/relay/main.ts": [2, 93],
  "bridges/mcp/tree/main.ts": [46, 5196],
  "browser/main.ts": [36, 3913],
  "cli/main.ts": [638, 83247],
  "kernel/main.ts": [353, 58272],
  "memory-wiki/main.ts": [185, 26740],
  "memory-wiki/parse/main.ts": [36, 5367],
  "models/local/main.ts": [48, 7039],
  "models/main.ts": [23, 2826],
  "models/native/main.ts": [49, 7198],
  "models/remote/main.ts": [59, 7453],
  "net/main.ts": [36, 3509],
  "runner/main.ts": [27, 2654],
  "scripts/release/main.ts": [471, 61003],
  "service/gateway/main.ts": [90, 11406],
  "tools-wasm/build/main.ts": [23, 1940],
  "tools-wasm/exec/prelude/main.ts": [15, 1454],
  "tools-wasm/exec/strip/main.ts": [1, 11],
  "tools-wasm/host/main.ts": [34, 3055],
  "tools-wasm/sdk/adapt/main.ts": [7, 637],
  "workspace/copy/main.ts": [37, 3950],
  "workspace/host/main.ts": [42, 5012],
  "store/postgres/main.ts": [24, 2817],
  "bridges/acp/client/main.ts": [4, 328],
  "bridges/acp/relay/main.ts": [4, 433],
  redteam: [8, 788],
});
