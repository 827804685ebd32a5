/**
 * Who may import whom: the architecture in one table. Read it from the top in the order in which a request flows.
 *
 * `contracts/`, `port/` and `text/` are open to everyone and import nothing else of ours. Every other part sees
 * its own folder, what this table gives it, and nothing more. Only the `main.ts` of a process, `scripts/`, `tests/`
 * and `bench/` wire parts together. The house lint checks the sources against the table and a test checks
 * `deno info`'s module graph against it, so that neither can drift from this picture.
 *
 * @example
 * ```ts
 * import { mayImport } from "./import_table.ts";
 * if (mayImport("broker/gate/gate.ts", "store/mod.ts") === undefined) throw new Error("the gate never sees a store");
 * ```
 * @module
 */

/** What a part may import beyond its own folder. */
export type PartRule = {
  /**
   * Parts of this repository, through their `mod.ts`; `contracts`, `port` and `text` through any
   * file that is not private.
   */
  readonly parts: readonly string[];
  /** npm packages, as named in deno.json; docs/dependencies.md says why. */
  readonly npm: readonly string[];
};

const OPEN = ["contracts", "port", "text"] as const;
/** What commands, editors and programs share below the terminal, from the bottom up. */
const BELOW_COMMANDS = [
  ...["launch/disk", "launch/program", "config", "memory-wiki/host", "tools-wasm/kit"],
  ...["launch/kernel", "bridges/mcp/registry"],
] as const;
/** What plugins in TypeScript share: the types of `remit` are the sdk's. */
const PLUGIN = [...OPEN, "tools-wasm/sdk"] as const;
const MCP_SDK = ["@modelcontextprotocol/client", "@modelcontextprotocol/server"] as const;

/** The import table. A folder that is not in it may not hold a TypeScript file. */
export const IMPORT_TABLE: Readonly<Record<string, PartRule>> = Object.freeze({
  // Open to everyone.
  contracts: { parts: [], npm: ["zod"] },
  port: { parts: ["contracts"], npm: [] },
  text: { parts: ["contracts"], npm: [] },

  // The path of a request, in order.
  cli: {
    parts: [
      ...[
        ...OPEN,
        ...BELOW_COMMANDS,
        "service",
        "service/hosts",
        "service/peer",
        "service/trigger",
      ],
      ...[
        "service/trace",
        "service/backup",
        "bridges/acp",
        "bridges/mcp",
        "models/weights",
        "redteam",
        "world",
        "swarm",
      ],
    ],
    npm: ["@agentclientprotocol/sdk", "zod", "yaml", "diff", "smol-toml", "lowlight"],
  },
  // Below the commands, without a terminal: the machine's disk, Remit's own programs, the finding and starting of a
  // kernel; remit.yaml, keys and grants. The rooms of BELOW_COMMANDS are entered through any file that is not private:
  // a door would load all of a room at the start of each command.
  "launch/disk": { parts: OPEN, npm: [] },
  "launch/program": { parts: [...OPEN, "launch/disk"], npm: [] },
  config: { parts: [...OPEN, "launch/disk"], npm: ["zod", "yaml"] },
  "launch/kernel": {
    parts: [
      ...[...OPEN, "launch/disk", "launch/program", "config", "memory-wiki/host", "tools-wasm/kit"],
      "models/weights",
    ],
    npm: ["zod"],
  },
  // Suites, a compromised model and reports; its runs are processes of `remit run`.
  redteam: { parts: [...OPEN, "planned"], npm: ["zod", "yaml"] },
  // The people of a world, what they remember and the summary of a day; their steps are tasks of
  // the kernel.
  world: { parts: OPEN, npm: ["zod", "yaml"] },
  // Plans, a scheduler, a merge queue over git; its tasks are a kernel's.
  swarm: { parts: OPEN, npm: ["zod", "yaml"] },
  agents: { parts: OPEN, npm: [] },
  kernel: { parts: [...OPEN, "store"], npm: ["zod"] },
  runner: { parts: [...OPEN, "planned"], npm: [] },
  // The language of planned programs: the kernel reads it, a worker runs what was read.
  planned: { parts: OPEN, npm: ["acorn"] },
  models: {
    parts: OPEN,
    npm: [
      "zod",
      "yaml",
      "@ai-sdk/anthropic",
      "@ai-sdk/openai-compatible",
      "@wllama/wllama",
      "eventsource-parser",
    ],
  },
  // The store of weights, a library without a terminal; no model process imports it.
  "models/weights": { parts: OPEN, npm: ["yaml", "zod"] },
  broker: { parts: OPEN, npm: ["zod", "ajv"] },
  workspace: { parts: OPEN, npm: ["zod"] },
  net: { parts: OPEN, npm: [] },
  browser: { parts: OPEN, npm: ["puppeteer-core"] },
  store: { parts: OPEN, npm: ["postgres"] },
  "memory-wiki": {
    parts: OPEN,
    npm: ["zod", "@orama/orama", "diff", "htmlparser2", "unpdf", "postal-mime"],
  },
  // Folders and pages on their way into a wiki; its process, started and asked.
  "memory-wiki/host": { parts: [...OPEN, "launch/disk", "launch/program"], npm: ["zod"] },

  // The service, a library without a terminal: the caller passes in kernels, clocks and disks.
  service: {
    parts: [...OPEN, "service/hosts", "service/peer", "service/trace", "service/trigger"],
    npm: ["zod"],
  },
  "service/hosts": { parts: OPEN, npm: ["zod"] },
  "service/peer": { parts: [...OPEN, "service/hosts", "service/trace"], npm: ["jose", "zod"] },
  "service/trigger": { parts: [...OPEN, "service/trace"], npm: ["croner", "zod"] },
  "service/trace": { parts: OPEN, npm: [] },
  "service/backup": { parts: OPEN, npm: ["zod"] },

  // Other protocols, and the gateway that serves them.
  "bridges/mcp": {
    parts: OPEN,
    npm: [...MCP_SDK, "diff", "eventsource-parser", "zod"],
  },
  // Servers that people added: found, fetched, reviewed, locked, granted, logged in at.
  "bridges/mcp/registry": {
    parts: [...OPEN, "launch/disk", "launch/program", "launch/kernel", "config", "bridges/mcp"],
    npm: ["zod"],
  },
  "bridges/acp": { parts: OPEN, npm: ["@agentclientprotocol/sdk"] },
  "bridges/a2a": { parts: [...OPEN, "bridges/mcp"], npm: ["@a2a-js/sdk", "zod"] },
  "service/gateway": { parts: OPEN, npm: ["hono", "zod"] },

  // Tools: each folder beneath tools-wasm/ is a part of its own.
  "tools-wasm/binding": { parts: OPEN, npm: [] },
  "tools-wasm/command": { parts: OPEN, npm: [] },
  "tools-wasm/host": { parts: OPEN, npm: ["@extism/extism"] },
  "tools-wasm/build": { parts: OPEN, npm: ["assemblyscript", "yaml", "zod"] },
  "tools-wasm/sdk": { parts: OPEN, npm: ["binaryen"] },
  // Plugins that people add, their signatures and cases; a host to try them in.
  "tools-wasm/kit": { parts: [...OPEN, "launch/disk", "launch/program"], npm: ["yaml", "zod"] },
  // Plugins. What a plugin imports is compiled into its module or script and nothing else.
  "tools-wasm/exec": {
    parts: OPEN,
    npm: ["assemblyscript", "quickjs-wasi", "sucrase"],
  },
  "tools-wasm/coreutils": { parts: PLUGIN, npm: [] },
  "tools-wasm/text": { parts: OPEN, npm: [] },
  "tools-wasm/json": { parts: OPEN, npm: ["smol-toml", "yaml"] },
  "tools-wasm/patch": { parts: OPEN, npm: ["diff", "node-diff3"] },
  "tools-wasm/web_read": { parts: PLUGIN, npm: ["htmlparser2"] },
  "tools-wasm/browser": { parts: PLUGIN, npm: ["htmlparser2"] },

  // Outside the running system: may import any part.
  scripts: { parts: ["*"], npm: ["zod"] },
  tests: {
    parts: ["*"],
    npm: [
      "@agentclientprotocol/sdk",
      "fast-check",
      "puppeteer-core",
      "zod",
      "yaml",
      "@noble/ed25519",
      "@a2a-js/sdk",
      ...MCP_SDK,
      "@modelcontextprotocol/sdk",
    ],
  },
  bench: {
    parts: ["*"],
    npm: [
      "ajv",
      "@a2a-js/sdk",
      "@ai-sdk/openai-compatible",
      "@extism/extism",
      "@modelcontextprotocol/client",
      "@orama/orama",
      "js-tiktoken",
      "@wllama/wllama",
      "zod",
    ],
  },
});

/** npm packages that any `*_test.ts` and fixture may import in addition to those of its part. */
const TEST_NPM: readonly string[] = [
  "fast-check",
  "@noble/ed25519",
  "@extism/extism",
  "binaryen",
  "ajv",
  "yaml",
];

/** A program that is bundled, and the npm packages that its bundle may hold. */
export type BundleRule = {
  readonly entry: string;
  readonly npm: readonly string[];
  /**
   * Files of this repository that the bundle's code must not reach, because they load what the
   * child must not have.
   */
  readonly without: readonly string[];
};

/**
 * The process entries. Workers and toolhosts hold no third-party code except what is listed here.
 */
export const BUNDLES: readonly BundleRule[] = Object.freeze([
  // acorn is loaded when a task with a planned program begins.
  { entry: "kernel/main.ts", npm: ["zod", "ajv", "acorn"], without: [] },
  { entry: "runner/main.ts", npm: [], without: ["port/digest.ts", "planned/parse.ts"] },
  { entry: "workspace/host/main.ts", npm: [], without: [] },
  { entry: "workspace/copy/main.ts", npm: [], without: [] },
  { entry: "models/main.ts", npm: ["zod", "yaml"], without: [] },
  { entry: "models/local/main.ts", npm: ["zod", "@wllama/wllama"], without: [] },
  { entry: "models/native/main.ts", npm: ["zod"], without: [] },
  {
    entry: "models/remote/main.ts",
    npm: ["zod", "@ai-sdk/anthropic", "@ai-sdk/openai-compatible", "eventsource-parser"],
    without: [],
  },
  { entry: "tools-wasm/host/main.ts", npm: ["@extism/extism"], without: ["port/digest.ts"] },
  { entry: "net/main.ts", npm: [], without: [] },
  { entry: "store/postgres/main.ts", npm: ["postgres", "zod"], without: [] },
  { entry: "browser/main.ts", npm: ["puppeteer-core"], without: [] },
  {
    entry: "bridges/mcp/client/main.ts",
    npm: ["@modelcontextprotocol/client", "eventsource-parser"],
    // Modules with zod's schemas: 12 ms and 360 KB of each bridge.
    without: ["contracts/exchange/mcp.ts", "contracts/wire/wire_mcp.ts"],
  },
  {
    entry: "bridges/a2a/client/main.ts",
    npm: ["@a2a-js/sdk", "eventsource-parser"],
    without: [
      "contracts/exchange/mcp.ts",
      "contracts/exchange/exchange.ts",
      "contracts/wire/wire_mcp.ts",
    ],
  },
  { entry: "bridges/mcp/tree/main.ts", npm: ["zod"], without: [] },
  { entry: "bridges/mcp/relay/main.ts", npm: [], without: [] },
  {
    entry: "service/gateway/main.ts",
    npm: ["hono", "zod", "@modelcontextprotocol/server", "@a2a-js/sdk"],
    // node:crypto does not start in its namespace.
    without: ["port/digest.ts", "text/_mark.ts"],
  },
  { entry: "memory-wiki/main.ts", npm: ["zod", "diff"], without: [] },
  {
    entry: "memory-wiki/parse/main.ts",
    npm: ["htmlparser2", "unpdf", "postal-mime"],
    without: ["port/digest.ts"],
  },
]);

/**
 * The folders of `kernel/`, from the bottom up: a file may import its own folder and those listed
 * before it. The files directly in `kernel/` wire them, and no folder imports those. What each
 * holds: docs/map.md.
 */
const KERNEL_LAYERS: readonly string[] = [
  // The core: rights, processes of the machine, which have no rights, processes of a task, the log.
  ...["core/lease", "core/start", "core/child", "core/process", "core/log", "core/fleet"],
  // What those processes serve, each by itself; at the end the tools that ask models and people.
  ...["power/net", "power/toolhost", "power/wiki", "power/command", "power/agent"],
  "power/model",
  ...["power/plugin", "power/peer", "power/mcp"],
  // A task: its worker, what the worker says, its conversation, its turns; then all of it together.
  ...["task/worker", "task/context", "task/session", "task"],
  // What the operator may do.
  "control",
];

/** Folders whose subfolders are parts of their own. */
const DIVIDED: ReadonlySet<string> = new Set(["bridges", "launch", "service", "tools-wasm"]);

/**
 * Returns the part that a repository path belongs to: the longest prefix of its folders that the
 * table names, else its first folder, or in divided folders its first two. Top-level files belong
 * to no part (`""`).
 */
export function partOf(path: string): string {
  const folders = path.split("/").slice(0, -1);
  for (let n = folders.length; n > 0; n -= 1) {
    const part = folders.slice(0, n).join("/");
    if (Object.hasOwn(IMPORT_TABLE, part)) return part;
  }
  return folders.slice(0, DIVIDED.has(folders[0] ?? "") ? 2 : 1).join("/");
}

/** Whether `path` is AssemblyScript: named `.ts`, but not readable by Deno. */
export function isAssembly(path: string): boolean {
  return /\/assembly\/.*\.ts$/.test(path);
}

/** Files beside a `main.ts` that wire parts together, because `main.ts` would be too long. */
const WIRING: ReadonlySet<string> = new Set([
  "kernel/main_agents.ts",
  "kernel/main_fleet.ts",
  "kernel/main_models.ts",
  "kernel/main_tools.ts",
  "kernel/main_mcp.ts",
  "kernel/main_work.ts",
]);

/** Whether a file may wire parts together: a `main.ts`, or any file outside the running system. */
function mayWire(path: string): boolean {
  const rule = IMPORT_TABLE[partOf(path)];
  return path.endsWith("/main.ts") || WIRING.has(path) || rule?.parts[0] === "*";
}

/** Whether `path` is shared test code: a file beneath a folder `_fixture/`. */
export function isFixture(path: string): boolean {
  return path.includes("/_fixture/");
}

/**
 * Returns why the file `from` may not import the file `to` (both repository paths); undefined when
 * it may. A private `_x.ts`, a test and a test's `_fixture/` are never imported from outside.
 */
export function mayImport(from: string, to: string): string | undefined {
  const folder = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);
  const name = to.slice(to.lastIndexOf("/") + 1);
  if (name.startsWith("_") && !from.startsWith(folder(to))) {
    return `"${to}" is private to its folder`;
  }
  const testing = from.endsWith("_test.ts") || isFixture(from) || mayWire(from);
  if (isFixture(to) && !testing) return `"${to}" is for tests`;
  if (name.endsWith("_test.ts")) return `"${to}" is a test: what tests share lies in _fixture/`;

  const [source, target] = [partOf(from), partOf(to)];
  const rule = IMPORT_TABLE[source];
  if (rule === undefined) return `the folder "${source}" is not in the import table`;
  // A test uses real neighbours and no fakes, so it wires parts, too.
  if (testing) return undefined;
  if (source === target) return source === "kernel" ? mayReach(from, to) : undefined;

  const open = ([...OPEN, ...BELOW_COMMANDS] as readonly string[]).includes(target);
  if (rule.parts.includes(target)) {
    return open || name === "mod.ts" ? undefined : `"${target}" is entered through a mod.ts`;
  }
  return `"${source}" may not import "${target}"`;
}

/** Returns why the kernel's file `from` may not import its file `to`; undefined when it may. */
function mayReach(from: string, to: string): string | undefined {
  const folder = (path: string): string => /^kernel\/(.+)\/[^/]+$/.exec(path)?.[1] ?? "";
  const [own, other] = [folder(from), folder(to)];
  if (own === "" || own === other) return undefined;
  const [height, beneath] = [KERNEL_LAYERS.indexOf(own), KERNEL_LAYERS.indexOf(other)];
  if (height === -1) return `the folder "kernel/${own}" is not in the import table`;
  if (beneath !== -1 && beneath < height) return undefined;
  return `"${to}" does not lie beneath "kernel/${own}"`;
}

/** Returns why the file `from` may not import the npm package `name`; undefined when it may. */
export function mayImportNpm(from: string, name: string): string | undefined {
  const rule = IMPORT_TABLE[partOf(from)];
  if (rule === undefined) return `the folder "${partOf(from)}" is not in the import table`;
  if (rule.npm.includes(name)) return undefined;
  if ((from.endsWith("_test.ts") || isFixture(from)) && TEST_NPM.includes(name)) return undefined;
  return `"${partOf(from)}" may not import the package "${name}"`;
}
