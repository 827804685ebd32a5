/** The processes that imported servers need: bridges, servers behind their walls, the check of their trees. @module */
import { dirname } from "node:path";
import { Fault } from "../../../contracts/base/fault.ts";
import type { PortHandler } from "../../../contracts/base/mod.ts";
import type { ImportedServer } from "../../../contracts/exchange/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import type { Child } from "./child.ts";
import type { CommandWalls, Walls } from "../start/walls.ts";
import {
  lineOfMcpNpm,
  lineOfMcpProgram,
  lineOfMcpTree,
  type ServerParts,
} from "../start/mcp_line.ts";
import type { PipedProcess, PipePowers } from "./mcp_pipe_powers.ts";
import type { LeftWatch } from "../start/left_behind.ts";
import { type Kept, type Masks, masksIn } from "../start/mcp_binds.ts";
import type { SpawnPowers } from "../start/spawn.ts";
import type { StartLine } from "../start/line_parts.ts";
import type { PermissionBroker } from "./permission_broker.ts";
import { asImported, type Judge } from "./permission_line.ts";

/** Milliseconds before a server without its permission broker is killed: most end by themselves, with a telling exit code. */
const LOST_MS = 300;

/** The launch of one imported server. */
export interface ServerOptions extends Omit<ServerParts, "own" | "masks"> {
  readonly launch: Exclude<ImportedServer["launch"], { readonly kind: "http" }>;
  /** Decides each access of a server of npm, by the path on the machine. */
  readonly judge: Judge;
  /** Files inside the grants that stay hidden, under every name; absent: none. */
  readonly kept?: Kept | undefined;
  onStderr(chunk: Uint8Array): void;
  /** The broker decides nothing for the server before this resolves. */
  readonly checked: Promise<void>;
  /** Deno may keep its compilation cache: the server has no grants and does nobody's work. */
  readonly warms: boolean;
}

/** Starts the processes around imported servers. */
export interface McpChildren {
  /** Client of one server, or of one peer, without any permission. Rejects with `upstream` when the process does not start. */
  mcp(handler: PortHandler, role?: "mcp" | "a2a"): Promise<Child>;
  /** Rejects with `unavailable` without bubblewrap or a socket, `refused` for a grant that cannot be bound. */
  mcpServer(options: ServerOptions): Promise<PipedProcess>;
  /** Starts the reader of package trees, or of one program file. Rejects like `mcp`, and with `unavailable`. */
  mcpTree(handler: PortHandler, program?: string): Promise<Child>;
}

export interface McpChildrenParts {
  readonly config: Pick<
    KernelConfig,
    "programs" | "bundles" | "denoDir" | "mcpTrees" | "dir" | "runtime" | "mark"
  >;
  readonly walls: Walls;
  readonly powers: Pick<Powers, "after">;
  readonly spawn: Pick<SpawnPowers, "start">;
  readonly broker: PermissionBroker;
  readonly left: Pick<LeftWatch, "look"> | undefined;
  /** Absent: servers are refused with `unavailable`. */
  readonly pipes?: PipePowers;
  /** Probes the walls for native programs. */
  commandWalls(): Promise<CommandWalls>;
  bridge(handler: PortHandler, role?: "mcp" | "a2a"): Promise<Child>;
  /** Starts a child and waits until it serves. */
  tree(line: () => StartLine, handler: PortHandler): Promise<Child>;
}

/** Makes the starters of imported servers' processes; the walls for programs are probed at the first program. */
export function makeMcpChildren(
  parts: McpChildrenParts,
): McpChildren & { close(): Promise<void> } {
  const { config, walls, broker, pipes } = parts;
  // Remit's own folders, among them STATE with the person's keys: never visible to a server.
  const own = [dirname(config.dir), config.runtime, config.mcpTrees].filter((path) => path !== "");
  const alive = new Set<PipedProcess>();
  let command: Promise<CommandWalls> | undefined;
  /** Masks of program folders, which are searched once in a kernel's life. */
  const programs = new Map<string, Promise<Masks>>();
  let closed = false;

  const begin = (line: StartLine, onStderr: ServerOptions["onStderr"]): PipedProcess => {
    if (closed) throw new Fault("gone", "Cannot start an imported server: the kernel is closing");
    if (pipes === undefined) {
      throw new Fault("unavailable", "Cannot start an imported server: this process starts none");
    }
    const server = pipes.start({ ...line, onStderr, killed: () => parts.left?.look() });
    alive.add(server);
    void server.exited.then(() => alive.delete(server));
    return server;
  };

  const masks = async (
    { grants, kept }: Pick<ServerOptions, "grants" | "kept">,
    folders: readonly string[] = [],
  ): Promise<Masks> => {
    const { spawn, powers } = parts;
    const look = (bound: ServerParts["grants"], kept?: Kept): Promise<Masks> =>
      masksIn(bound, { own, kept, programs: config.programs, spawn, powers });
    // `kept` hides nothing in program folders: a server may read all of its own code.
    const ofPrograms = folders.map((folder) => {
      const known = programs.get(folder) ?? look({ read: [folder], write: [] });
      programs.set(folder, known);
      known.catch(() => programs.delete(folder));
      return known;
    });
    const all = await Promise.all([look(grants, kept), ...ofPrograms]);
    return {
      files: [...new Set(all.flatMap(({ files }) => files))],
      folders: all.flatMap(({ folders }) => folders),
    };
  };

  const npm = async (
    options: ServerOptions & { launch: { kind: "npm" } },
  ): Promise<PipedProcess> => {
    const { launch } = options;
    const masked = await masks(options);
    const session = await broker.open(options.judge, {
      within: asImported,
      after: options.checked,
    });
    try {
      const tree = `${config.mcpTrees}/${launch.tree.id}`;
      const line = lineOfMcpNpm(config, walls, {
        ...options,
        ...{ launch, own, tree, broker: session.path, masks: masked },
        warm: `${dirname(config.mcpTrees)}/warm/${launch.tree.id}`,
      });
      const server = begin(line, options.onStderr);
      // INVARIANT: neither the broker session nor the server outlives the other.
      void session.lost.then(() => void parts.powers.after(LOST_MS, server.kill));
      void server.exited.then(() => session.close());
      return server;
    } catch (error) {
      session.close();
      throw error;
    }
  };

  const program = async (
    options: ServerOptions & { launch: { kind: "program" } },
  ): Promise<PipedProcess> => {
    const { launch, grants, proxy, sockets = [] } = options;
    command ??= parts.commandWalls();
    const stands = await command;
    if (stands.kind === "none") {
      throw new Fault("unavailable", `Cannot start ${launch.program}: ${stands.why}`);
    }
    const masked = await masks(options, launch.folders);
    const bare = grants.read.length === 0 && grants.write.length === 0 && proxy === undefined &&
      sockets.length === 0 &&
      launch.tree === undefined && launch.folders.length === 0;
    return begin(
      lineOfMcpProgram(config, walls, {
        ...options,
        ...{ launch, own, masks: masked },
        tree: launch.tree === undefined ? undefined : `${config.mcpTrees}/${launch.tree.id}`,
        // With any grant the server runs as the user: the identity "nobody" could not open the user's files.
        identity: bare ? stands.identity : "own",
      }),
      options.onStderr,
    );
  };

  return Object.freeze({
    mcp: parts.bridge,
    async mcpServer(options: ServerOptions): Promise<PipedProcess> {
      const { launch } = options;
      return launch.kind === "npm"
        ? await npm({ ...options, launch })
        : await program({ ...options, launch });
    },
    mcpTree: (handler: PortHandler, file?: string) =>
      parts.tree(() => lineOfMcpTree(config, walls, file), handler),
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...alive].map((server) => {
        server.kill();
        return server.exited;
      }));
    },
  });
}
