/** A real kernel whose tasks are handed imported servers, and an agent that does nothing but call them. @module */
import { importedTool, translate } from "../../bridges/mcp/review/mod.ts";
import { NOT_BUILT, provideBundles } from "../../launch/program/bundles_powers.ts";
import { parseLook } from "../../bridges/mcp/registry/look.ts";
import { mcpPrograms, provideMcpPrograms } from "../../launch/program/mcp_programs_powers.ts";
import { toJson } from "../../contracts/base/mod.ts";
import {
  ImportedServer,
  type McpGrants,
  type McpLaunch,
  McpServerName,
  NO_GRANTS,
  type ServerListing,
} from "../../contracts/exchange/mod.ts";
import { NO_POLICY } from "../../contracts/policy/mod.ts";
import { type BenchKernel, benchRequest, cacheFolder, startBenchKernel } from "../_kernel.ts";
import { benchTrees } from "./trees.ts";

const HOME = new URL("../..", import.meta.url).pathname;
/** Sockets of permission brokers: one for each server that starts at once. */
const BROKERS = 32;

/** What one agent does: each entry is a chain of calls, all chains at once. */
export interface AgentPlan {
  readonly chains: readonly Chain[];
  /** Calls of each chain that are not told. */
  readonly warm: number;
  readonly count: number;
  /** It then goes on without an end, until it is cancelled. */
  readonly stay?: boolean;
}

/** The same call again and again. */
export interface Chain {
  readonly tool: string;
  readonly args: object;
}

/** What came of a plan, in milliseconds as the agent's process saw it. */
export interface AgentTimes {
  /** The first call of each chain: it starts the server. */
  readonly first: readonly number[];
  /** Every call of each chain after the warm ones. */
  readonly took: readonly (readonly number[])[];
  /** From the first to the last of these, all chains. */
  readonly wall: number;
  /** The last result of each chain. */
  readonly said: readonly string[];
}

/** Imported servers under measurement. */
export interface McpBench extends AsyncDisposable {
  readonly kernel: BenchKernel;
  /** Looks at a server and reviews it, as `remit mcp add` does. */
  import(name: string, launch: McpLaunch, grants?: Partial<McpGrants>): Promise<ImportedServer>;
  /** The same server under several names, looked at once. */
  importAs(names: readonly string[], launch: McpLaunch): Promise<readonly ImportedServer[]>;
  run(servers: readonly ImportedServer[], plan: AgentPlan): Promise<AgentTimes>;
  /** The operating-system processes of an agent's servers when it has made its first calls: server, bridge, server, … */
  staying<T>(
    servers: readonly ImportedServer[],
    chains: readonly Chain[],
    look: (pids: readonly number[]) => Promise<T>,
  ): Promise<T>;
}

/** Starts the kernel. */
export async function makeMcpBench(): Promise<McpBench> {
  const parts = { home: HOME.replace(/\/$/, ""), cache: cacheFolder(), onBuild: () => undefined };
  const bundles = await provideBundles(parts);
  await provideMcpPrograms(parts);
  const kernel = await startBenchKernel({
    bundles: { ...bundles.children, ...NOT_BUILT, ...mcpPrograms(parts) },
    mcpTrees: benchTrees(),
    brokers: BROKERS,
    // Nobody is asked: the operator let these tools through.
    policy: { ...NO_POLICY, rules: [{ tool: "mcp_*", mode: "auto", at: "bench" }] },
  });
  const request = (servers: readonly ImportedServer[], plan: AgentPlan): object => ({
    ...benchRequest("scenario: none\nturns:\n  - { name: end, say: Done. }"),
    request: JSON.stringify(plan),
    program: AGENT,
    mcp: servers,
    onQuestion: "ask",
    limits: { toolCalls: 1e6, callsByEffect: {}, resultBytes: 1e9, wallClockMs: 600_000 },
  });
  const draft = (name: string, launch: McpLaunch, grants: Partial<McpGrants>): ImportedServer =>
    ImportedServer.parse({
      ...{ name, launch, grants: { ...NO_GRANTS, ...grants }, env: {}, tools: [] },
      ...{ secretEnv: [], secretHeaders: [], samplingTokens: 0, elicitation: false },
      ...{ offers: { resources: false, prompts: false }, clearance: "internal" },
    });
  const look = async (server: ImportedServer): Promise<ServerListing> => {
    const asked = toJson({ server, observe: false, deadlineMs: 60_000 });
    const { words, ended, errors } = parseLook(await kernel.link.ask("mcpLook", asked));
    if (words !== undefined) return words;
    throw new Error(`Cannot look at ${server.name}: ${ended} ${errors}`);
  };
  const reviewed = (server: ImportedServer, { tools: words }: ServerListing): ImportedServer => {
    const { tools } = translate(McpServerName.parse(server.name), words, server);
    return ImportedServer.parse({ ...server, tools: tools.map(importedTool) });
  };
  return {
    kernel,
    async import(name, launch, grants = {}): Promise<ImportedServer> {
      const server = draft(name, launch, grants);
      return reviewed(server, await look(server));
    },
    async importAs(names, launch): Promise<readonly ImportedServer[]> {
      const servers = names.map((name) => draft(name, launch, {}));
      const [first] = servers;
      if (first === undefined) return [];
      const words = await look(first);
      return servers.map((server) => reviewed(server, words));
    },
    async run(servers, plan): Promise<AgentTimes> {
      const { task, exit } = await kernel.finish(request(servers, plan));
      const { answer } = await kernel.link.ask("task", { task }) as { answer?: string };
      if (exit !== 0 || answer === undefined) {
        const seen = await kernel.link.ask("task", { task });
        throw new Error(`Cannot bench imported tools: ${JSON.stringify(seen).slice(0, 2_000)}`);
      }
      return JSON.parse(answer) as AgentTimes;
    },
    async staying(servers, chains, look) {
      const plan = { chains, warm: 1, count: 0, stay: true };
      const { task } = await kernel.link.ask("run", toJson(request(servers, plan))) as {
        task: string;
      };
      try {
        return await look(await processes(kernel, task, chains.length));
      } finally {
        await kernel.link.ask("cancel", { task });
      }
    },
    [Symbol.asyncDispose]: () => kernel.close(),
  };
}

/** The agent's program, an IIFE: it makes the calls of its message, and says how long each took. */
const AGENT = `(() => ({ async turn(ports, message) {
  const plan = JSON.parse(message.content);
  let { id } = await ports.advertise(), n = 0;
  const call = async ({ tool, args }) => {
    for (let tries = 0;; tries++) {
      const from = performance.now();
      const result = await ports.call(id, { id: "c" + ++n, name: tool, arguments: JSON.stringify(args) });
      if (result.outcome === "ok") return { ms: performance.now() - from, text: result.content };
      if (tries > 2) throw new Error(tool + ": " + result.outcome + ": " + (result.error ?? result.content));
      ({ id } = await ports.advertise());
    }
  };
  const first = await Promise.all(plan.chains.map(async (chain) => (await call(chain)).ms));
  const said = plan.chains.map(() => "");
  await Promise.all(plan.chains.map(async (chain) => {
    for (let i = 1; i < plan.warm; i++) await call(chain);
  }));
  const from = performance.now();
  const took = await Promise.all(plan.chains.map(async (chain, at) => {
    const own = [];
    for (let i = 0; i < plan.count; i++) {
      const { ms, text } = await call(chain);
      own.push(ms);
      said[at] = text;
    }
    return own;
  }));
  const wall = performance.now() - from;
  if (plan.stay) await new Promise(() => {});
  return { stop: "answered", text: JSON.stringify({ first, took, wall, said }) };
} }))()`;

async function processes(
  kernel: BenchKernel,
  task: string,
  calls: number,
): Promise<readonly number[]> {
  for (let tries = 0; tries < 1_000; tries++) {
    const rows = await kernel.link.ask("ps", null) as unknown as readonly {
      task: string;
      os: number[];
      usage: { toolCalls: number; resultBytes: number };
    }[];
    const row = rows.find((each) => each.task === task);
    if (row !== undefined && row.os.length > 2 * calls && row.usage.resultBytes > 0) {
      return row.os.slice(1);
    }
    // TIMER: nothing tells a bench when a task has made its first calls.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("Cannot bench imported servers: they did not start");
}
