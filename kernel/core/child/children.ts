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

/** Most children starting at a time. */
const STARTS = 2;

/** Clients of imported servers that wait, once there was one. */
const BRIDGES = 2;
/** Milliseconds before one of them is replaced: what was taken starts a server, which wants the processor. */
const BRIDGES_CALM = 1_000;

/** What a toolhost is started with. */
interface HostOptions {
  readonly mounts: readonly Pick<Mount, "name" | "dir" | "mode">[];
  /** Existing folders of this task's, absolute. */
  readonly content: string;
  readonly scratch: string;
  /** Bind `stage` and `rw` mounts writable. */
  readonly writable: boolean;
  /** Decides each access, by paths as the toolhost sees them. */
  readonly judge: Judge;
  readonly handler: PortHandler;
}

/** What a model service needs of the machine. */
export type ModelNeeds =
  | { readonly role: "model" }
  /** Without `at` it has no network: a recording is played. */
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
  /** From the warm pool, or started now. Rejects with `upstream` when it does not start. */
  worker(handler: PortHandler): Promise<Child>;
  /** Rejects with `unavailable` without a broker socket, `upstream` when it does not start. */
  toolhost(options: HostOptions): Promise<{ readonly child: Child; readonly roots: Roots }>;
  /** Rejects with `unavailable` for native code without bubblewrap, `upstream` as `worker`. */
  model(options: { readonly handler: PortHandler; readonly needs: ModelNeeds }): Promise<Child>;
  /** From a warm pool that begins to fill with the first; rejects as `worker`. */
  plugin(handler: PortHandler): Promise<Child>;
  net(handler: PortHandler): Promise<Child>;
  /** Rejects with `unavailable` without bubblewrap, `upstream` when it does not start. */
  browser(handler: PortHandler): Promise<Child>;
  /** The process that holds one wiki; rejects with `upstream` when it does not start. */
  wiki(options: { readonly handler: PortHandler; readonly folders: WikiFolders }): Promise<Child>;
  /** Which walls stand on this machine. */
  walls(): Walls;
  /** Ends what a program that was ended while it was being started has left. */
  lookForLeft(): void;
  /** Ends all; resolves when they are reaped. */
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
  /** Starts imported servers; absent: none is started. */
  readonly pipes?: PipePowers;
  /** What a plugin host that waits in the pool is given beforehand. */
  readonly preparePlugin?: ((child: Child) => Promise<void>) | undefined;
}

/** Probes the walls, then begins to fill the pool. */
export async function makeChildren(
  { config, powers, spawn, pipes, preparePlugin }: ChildrenParts,
): Promise<Children> {
  const walls = await probeWalls(config, spawn);
  const left = watchForLeft(config, spawn);
  const broker = makePermissionBroker(config.brokerSockets, spawn);
  const queue = makeStartQueue(STARTS);
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
    // What a person does next finds one, so that a task after a pause starts warm.
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
      // Few tasks have a peer, and its process waits for an answer of the network anyway.
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
    // The line is made within: what this machine cannot do rejects, and does not throw.
    model: ({ handler, needs }: { handler: PortHandler; needs: ModelNeeds }) =>
      ready(() => start(needs.role, lineOfModel(needs), handler)),
    plugin(handler: PortHandler): Promise<Child> {
      // Most tasks use no plugin: nothing waits for it before the first.
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

/** Runs starts in order. */
export interface StartQueue {
  /** Runs `start` when its turn comes; its turn lasts until what it returns settles. */
  run<T>(start: () => Promise<T>): Promise<T>;
  /** True when nothing is starting or waiting to. */
  idle(): boolean;
}

/** Makes a queue that lets `most` start at a time. */
export function makeStartQueue(most: number): StartQueue {
  const waiting: (() => void)[] = [];
  let running = 0;
  return Object.freeze({
    async run<T>(start: () => Promise<T>): Promise<T> {
      if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
      else running++;
      try {
        return await start();
      } finally {
        // The place goes to the next in line, or is given up.
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      }
    },
    idle: () => running === 0 && waiting.length === 0,
  });
}
