/** The kernel's children: workers, toolhosts and model services. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { PortHandler } from "../../../contracts/base/mod.ts";
import type { Gpu } from "../../../contracts/model/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { Mount } from "../../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { lineOfBrowser, lineOfWiki, type WikiFolders } from "../start/browser_line.ts";
import { probeCommandWalls, probeWalls, type Walls } from "../start/walls.ts";
import { watchForLeft } from "../start/left_behind.ts";
import type { Role, StartLine } from "../start/line_parts.ts";
import { lineOfLocal, lineOfNative, lineOfRemote } from "../start/model_line.ts";
import type { SpawnPowers } from "../start/spawn.ts";
import { lineOfHost, lineOfNet, lineOutside, type Roots } from "../start/start_line.ts";
import { type Child, startChild } from "./child.ts";
import { makeMcpChildren, type McpChildren } from "./mcp_children.ts";
import type { PipePowers } from "./mcp_pipe_powers.ts";
import { makePermissionBroker } from "./permission_broker.ts";
import type { Judge } from "./permission_line.ts";
import { makeWorkerPool, started, type WorkerPool } from "./worker_pool.ts";

export type { Child } from "./child.ts";

/** Children that may start at the same time. */
const MAX_STARTS = 2;
/** Size of the warm pool of MCP clients, which exists from the first imported server on. */
const BRIDGES = 2;
/** Milliseconds before a taken MCP client is replaced: its taker first starts a server, which needs the processor. */
const BRIDGES_CALM = 1_000;

/** A toolhost's folders, permissions and port. */
interface HostOptions {
  readonly mounts: readonly Pick<Mount, "name" | "dir" | "mode">[];
  /** Absolute path of an existing folder of the task. */
  readonly content: string;
  readonly scratch: string;
  /** Bind `stage` and `rw` mounts writable. */
  readonly writable: boolean;
  /** Decides each access, by the path inside the toolhost's namespace. */
  readonly judge: Judge;
  readonly handler: PortHandler;
}

/** The resources of a model service: network, memory or files of weights. */
export type ModelNeeds =
  | { readonly role: "model" }
  /** Without `at` the service has no network and plays a recording. */
  | {
    readonly role: "remote";
    readonly at?: { readonly host: string; readonly port: number };
  }
  | { readonly role: "local"; readonly bytes: number; readonly contextTokens: number }
  /** `weights` and `addon` are absolute paths. */
  | {
    readonly role: "native";
    readonly bytes: number;
    readonly contextTokens: number;
    readonly weights: string;
    readonly addon: string;
    readonly gpu?: Gpu;
  };

/** Starts and ends children. */
export interface Children extends McpChildren {
  /** A worker from the warm pool, or a new one. Rejects with `upstream` when the process does not start. */
  worker(handler: PortHandler): Promise<Child>;
  /** Rejects with `unavailable` without a broker socket, `upstream` when the process does not start. */
  toolhost(options: HostOptions): Promise<{ readonly child: Child; readonly roots: Roots }>;
  /** Rejects with `unavailable` for native code without bubblewrap, `upstream` like `worker`. */
  model(options: { readonly handler: PortHandler; readonly needs: ModelNeeds }): Promise<Child>;
  /** A plugin host from a warm pool, which starts to fill at the first call; rejects like `worker`. */
  plugin(handler: PortHandler): Promise<Child>;
  net(handler: PortHandler): Promise<Child>;
  /** Rejects with `unavailable` without bubblewrap, `upstream` when the process does not start. */
  browser(handler: PortHandler): Promise<Child>;
  /** The process that holds one wiki; rejects with `upstream` when the process does not start. */
  wiki(options: { readonly handler: PortHandler; readonly folders: WikiFolders }): Promise<Child>;
  /** The walls that this machine supports. */
  walls(): Walls;
  /** Kills leftovers of programs that were killed during their start. */
  lookForLeft(): void;
  /** Kills all children; resolves once they are reaped. */
  close(): Promise<void>;
}

interface ChildrenParts {
  readonly config: Pick<
    KernelConfig,
    | "programs"
    | "bundles"
    | "denoDir"
    | "brokerSockets"
    | "pool"
    | "browser"
    | "dir"
    | "runtime"
    | "mcpTrees"
    | "mark"
  >;
  readonly powers: Pick<Powers, "after" | "now">;
  readonly spawn: SpawnPowers;
  /** Starts imported servers; absent: imported servers are refused. */
  readonly pipes?: PipePowers;
  /** Prepares a plugin host while it waits in the pool. */
  readonly preparePlugin?: ((child: Child) => Promise<void>) | undefined;
}

/** Probes the walls, then starts to fill the worker pool. */
export async function makeChildren(
  { config, powers, spawn, pipes, preparePlugin }: ChildrenParts,
): Promise<Children> {
  const walls = await probeWalls(config, spawn);
  const left = watchForLeft(config, spawn);
  const broker = makePermissionBroker(config.brokerSockets, spawn);
  const queue = makeStartQueue(MAX_STARTS);
  const alive = new Set<Child>();
  let closed = false;

  const start = (role: Role, line: StartLine, handler: PortHandler): Child => {
    if (closed) throw new Fault("gone", `Cannot start a ${role}: the kernel is closing`);
    const child = startChild({ role, line, handler, spawn, now: powers.now, left });
    alive.add(child);
    void child.exited.then(() => alive.delete(child));
    return child;
  };
  const ready = (begin: () => Child): Promise<Child> =>
    queue.run(async () => {
      const child = begin();
      await started(child);
      return child;
    });

  const workerLine = lineOutside(config, walls, "worker", { pooled: false });
  const pooledLine = lineOutside(config, walls, "worker", { pooled: true });
  const modelLine = lineOutside(config, walls, "model", { pooled: false });
  const pool = makeWorkerPool({
    size: config.pool.workers,
    // One worker stays through a pause, so that the next task starts warm.
    resting: 1,
    queue,
    powers,
    start: (handler, { pooled }) => start("worker", pooled ? pooledLine : workerLine, handler),
  });

  const pluginLine = (pooled: boolean): StartLine =>
    lineOutside(config, walls, "plugin", { pooled });
  const lineOfModel = (needs: ModelNeeds): StartLine => {
    switch (needs.role) {
      case "model":
        return modelLine;
      case "remote":
        return lineOfRemote(config, walls, needs.at);
      case "local":
        return lineOfLocal(config, walls, needs);
      case "native":
        return lineOfNative(config, walls, needs);
    }
  };
  let plugins: WorkerPool | undefined, bridges: WorkerPool | undefined;
  const bridgeLine = (pooled: boolean): StartLine => lineOutside(config, walls, "mcp", { pooled });
  const peerLine = lineOutside(config, walls, "a2a", { pooled: false });
  const mcp = makeMcpChildren({
    ...{ config, walls, broker, powers, spawn, left },
    ...(pipes === undefined ? {} : { pipes }),
    commandWalls: () => probeCommandWalls(config, spawn),
    bridge(handler, role = "mcp") {
      // No pool for peers: few tasks have one, and a peer's process waits for the network anyway.
      if (role === "a2a") return ready(() => start("a2a", peerLine, handler));
      bridges ??= makeWorkerPool({
        ...{ size: BRIDGES, queue, powers, calm: BRIDGES_CALM },
        start: (given, { pooled }) => start("mcp", bridgeLine(pooled), given),
      });
      return bridges.take(handler);
    },
    tree: (line, handler) => ready(() => start("mcpTree", line(), handler)),
  });
  const netLine = lineOfNet(config, walls);

  return Object.freeze({
    worker: (handler: PortHandler) => pool.take(handler),
    async toolhost(options: HostOptions): Promise<{ child: Child; roots: Roots }> {
      const session = await broker.open(options.judge);
      const { line, roots } = lineOfHost(config, walls, { ...options, broker: session.path });
      try {
        const child = await ready(() => {
          const begun = start("toolhost", line, options.handler);
          // INVARIANT: neither outlives the other (test: "… whose judge fails ends").
          void session.lost.then(() => begun.kill());
          void begun.exited.then(() => session.close());
          return begun;
        });
        return { child, roots };
      } catch (error) {
        session.close();
        throw error;
      }
    },
    // The line is made inside the callback, so that an unsupported model rejects instead of throwing.
    model: ({ handler, needs }: { handler: PortHandler; needs: ModelNeeds }) =>
      ready(() => start(needs.role, lineOfModel(needs), handler)),
    plugin(handler: PortHandler): Promise<Child> {
      // Most tasks use no plugin, so the pool is made at the first call.
      plugins ??= makeWorkerPool({
        size: config.pool.plugins,
        queue,
        powers,
        start: (given, { pooled }) => start("plugin", pluginLine(pooled), given),
        prepare: preparePlugin,
      });
      return plugins.take(handler);
    },
    net: (handler: PortHandler) => ready(() => start("net", netLine, handler)),
    browser: (handler: PortHandler) =>
      ready(() => start("browser", lineOfBrowser(config, walls), handler)),
    wiki: ({ handler, folders }: { handler: PortHandler; folders: WikiFolders }) =>
      ready(() => start("wiki", lineOfWiki(config, walls, folders), handler)),
    ...{ mcp: mcp.mcp, mcpServer: mcp.mcpServer, mcpTree: mcp.mcpTree },
    walls: () => walls,
    lookForLeft: () => left?.look(),
    async close(): Promise<void> {
      closed = true;
      pool.close();
      plugins?.close();
      bridges?.close();
      await Promise.all([mcp.close(), ...[...alive].map((child) => child.kill())]);
      await left?.close();
    },
  });
}

/** Runs a limited number of starts at a time, in the order of their requests. */
export interface StartQueue {
  /** Runs `start` when a slot is free; the slot stays taken until the returned promise settles. */
  run<T>(start: () => Promise<T>): Promise<T>;
  /** True while nothing is starting or waiting to start. */
  idle(): boolean;
}

/** Makes a queue that runs up to `max` starts at the same time. */
export function makeStartQueue(max: number): StartQueue {
  const waiting: (() => void)[] = [];
  let running = 0;
  return Object.freeze({
    async run<T>(start: () => Promise<T>): Promise<T> {
      if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
      else running++;
      try {
        return await start();
      } finally {
        // The slot passes to the next start in line, or becomes free.
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      }
    },
    idle: () => running === 0 && waiting.length === 0,
  });
}
