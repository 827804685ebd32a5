/** Starts a server behind its walls, with a way out if it was granted hosts. @module */
import {
  Fault,
  type LeaseId,
  mcpSocketsOf,
  type NetProxied,
  type NetProxy,
} from "../../contracts/mod.ts";
import { makeAccessBook } from "./access.ts";
import type { FileGrants } from "../start/mcp_binds.ts";
import type { McpPlace, McpServe } from "./calls.ts";
import type { McpChildren, ServerOptions } from "../child/mcp_children.ts";
import { type LeasedGrant, makeMcpJudge } from "./mcp_judge.ts";
import type { PipedProcess } from "../child/mcp_pipe_powers.ts";
import type { ErrorTail } from "./process.ts";
import type { Judge } from "../child/permission_line.ts";

/** Ways out for servers in namespaces. */
export interface McpProxies {
  /** Rejects with `unavailable` when no socket is free. */
  open(options: {
    readonly allow: NetProxy["allow"];
    on(event: NetProxied): void;
  }): Promise<{ readonly path: string; close(): void }>;
}

/** What {@link startBehindWalls} is handed. */
export interface StartParts {
  readonly children: Pick<McpChildren, "mcpServer">;
  readonly proxies?: McpProxies;
  readonly serve: McpServe;
  readonly at: McpPlace;
  /** What of its grants the task holds now. */
  readonly grants: readonly LeasedGrant[];
  /** What stands in the place of granted paths: see {@link FileGrants}. */
  readonly copies?: Readonly<Record<string, string>> | undefined;
  alive(lease: LeaseId): boolean;
  /** The rule that keeps every tool from a path, in words; undefined when there is none. */
  forbids?(at: McpPlace, path: string, right: "read" | "write"): string | undefined;
  /** Deno may keep what it compiles of its code. */
  readonly warms?: boolean;
  /** Where nothing is granted, and it is only looked what is asked for. */
  readonly observing?: { readonly judge: Judge; readonly empty: readonly string[] };
}

/** A server behind its walls, and its way out. */
export interface StartedServer {
  readonly process: PipedProcess;
  close(): void;
}

/**
 * A server of npm starts while its tree is still checked: until that is done nothing that it asks is decided and
 * nothing that it says is heard. Programs, whose files are bound, wait for it.
 */
export async function startBehindWalls(
  parts: StartParts,
  launch: ServerOptions["launch"],
  { checked, errors, writes }: {
    readonly checked: Promise<void>;
    readonly errors: ErrorTail;
    writes(): boolean;
  },
): Promise<StartedServer> {
  const { children, serve, at, at: { server } } = parts;
  if (launch.kind === "program") await checked;
  const proxy = await wayOut(parts);
  const book = makeAccessBook();
  try {
    const process = await children.mcpServer({
      ...{
        launch,
        checked,
        grants: { ...filesOf(parts.grants), copies: parts.copies ?? {} },
        onStderr: errors.hear,
      },
      ...(proxy === undefined ? {} : { proxy: proxy.path }),
      sockets: mcpSocketsOf(parts.grants.map(({ value }) => value)),
      env: { ...server.env, ...serve.env(server) },
      warms: parts.warms ?? false,
      ...(parts.observing ?? {
        judge: makeMcpJudge({
          ...{ server: server.name, grants: parts.grants, alive: parts.alive, writes },
          held: server.grants.write.filter((path) =>
            !parts.grants.some(({ right, value }) => right === "write" && value === path)
          ),
          forbids: (path, right) => parts.forbids?.(at, path, right),
          note(permission, value, allowed): void {
            const first = book.note(permission, value, allowed);
            if (!allowed || first) serve.log(at, "access", { permission, allowed, value });
          },
        }),
      }),
    });
    return { process, close: () => proxy?.close() };
  } catch (error) {
    proxy?.close();
    throw error;
  }
}

/** The net service's socket for what hosts it holds. */
async function wayOut(
  { grants, proxies, serve, at }: StartParts,
): Promise<{ readonly path: string; close(): void } | undefined> {
  const hosts = grants.filter(({ right, value }) => right === "net" && !value.startsWith("unix:"))
    .map(({ value }) => value);
  if (hosts.length === 0) return undefined;
  if (proxies === undefined) {
    throw new Fault(
      "unavailable",
      `Cannot start "${at.server.name}": it needs the network, and there is no way out`,
    );
  }
  return await proxies.open({
    allow: hosts.map((host) => ({ host, named: isLocal(host) })),
    on: ({ host, ok, why }) => serve.log(at, "proxied", { ok, host }, why),
  });
}

/** A name that says itself that it lies within: every other one may not lead there, whoever answers for it. */
function isLocal(host: string): boolean {
  const name = host.slice(0, host.lastIndexOf(":"));
  return !name.includes(".") || /^[0-9.]+$/.test(name) ||
    /\.(?:local|localhost|internal|home\.arpa)$/.test(name);
}

/** Files among what it holds. */
export function filesOf(grants: readonly LeasedGrant[]): FileGrants {
  const of = (right: string): string[] =>
    grants.filter((grant) => grant.right === right).map(({ value }) => value);
  return { read: of("read"), write: of("write") };
}
