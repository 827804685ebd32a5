/** Starts a server behind its walls, with a way out if it was granted hosts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { LeaseId } from "../../../contracts/authority/ids.ts";
import type { Json, JsonObject } from "../../../contracts/base/json.ts";
import {
  type McpAccess,
  type McpGrants,
  mcpHostOf,
  mcpSocketsOf,
} from "../../../contracts/exchange/mcp.ts";
import type { Uses } from "../../../contracts/task/spending.ts";
import type { NetProxied, NetProxy, NetSpend } from "../../../contracts/wire/wire_net.ts";
import type { McpChildren, ServerOptions } from "../../core/child/mcp_children.ts";
import type { PipedProcess } from "../../core/child/mcp_pipe_powers.ts";
import type { Judge } from "../../core/child/permission_line.ts";
import { beneath } from "../../core/lease/scope.ts";
import type { FileGrants } from "../../core/start/mcp_binds.ts";
import type { McpPlace, McpServe } from "./calls.ts";
import { type LeasedGrant, makeMcpJudge } from "./mcp_judge.ts";
import type { ErrorTail } from "./process.ts";

/** Ways out for servers in namespaces. */
export interface McpProxies {
  /** Rejects with `unavailable` when no socket is free. */
  open(options: {
    readonly allow: NetProxy["allow"];
    on(event: NetProxied): void;
    readonly spend?: ((wanted: Omit<NetSpend, "id">) => Promise<number>) | undefined;
  }): Promise<{ readonly path: string; close(): void }>;
}

/** What {@link startBehindWalls} is handed. */
export interface StartParts {
  readonly children: Pick<McpChildren, "mcpServer">;
  readonly proxies?: McpProxies;
  /** Budgets of what it sends; absent: there are none. */
  readonly uses?: Pick<Uses, "step" | "has">;
  readonly serve: McpServe;
  readonly at: McpPlace;
  /** What of its grants the task holds now. */
  readonly grants: readonly LeasedGrant[];
  /** What stands in the place of granted paths: see {@link FileGrants}. */
  readonly copies?: Readonly<Record<string, string>> | undefined;
  alive(lease: LeaseId): boolean;
  /** The rule that keeps every tool from a path, in words; undefined when there is none. */
  forbids?(at: McpPlace, path: string, right: "read" | "write"): string | undefined;
  /** Globs of names that all such paths end in. */
  readonly forbiddenNames?: readonly string[];
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
      kept: {
        names: parts.forbiddenNames ?? [],
        why: (path) => parts.forbids?.(at, path, "read"),
      },
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
  { grants, proxies, serve, at, uses }: StartParts,
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
  const doing = `send what "${at.server.name}" sends`;
  return await proxies.open({
    spend: uses?.has("egressBytes") === true
      ? async (wanted) =>
        (await uses.step({ task: at.task }, "egressBytes", { ...wanted, doing })).amount
      : undefined,
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

/** Most distinct accesses that are kept apart; what comes after is counted as {@link OTHERS}. */
const DISTINCT = 500;
const VALUE = 1_024;
/** Stands for every value beyond. */
export const OTHERS = "(others)";

const KINDS: ReadonlySet<string> = new Set<McpAccess["permission"]>([
  ...["read", "write", "net", "env", "run", "sys", "ffi", "import"] as const,
]);

/** A book of accesses. */
export interface AccessBook {
  /** Tells whether it is the first of its kind and value. */
  note(permission: string, value: string | null, allowed: boolean): boolean;
  /** Everything so far: denied ones first, the most frequent first. */
  list(): readonly McpAccess[];
}

interface Row {
  readonly access: Omit<McpAccess, "times">;
  times: number;
}

/** Makes an empty book. */
export function makeAccessBook(): AccessBook {
  const rows = new Map<string, Row>();
  const counted = ({ access, times }: Row): McpAccess => ({ ...access, times });

  return Object.freeze<AccessBook>({
    note(permission, value, allowed): boolean {
      if (!isKind(permission)) return false;
      const short = value === null ? null : value.slice(0, VALUE);
      let key = `${permission} ${allowed} ${short ?? "\0"}`;
      let row = rows.get(key);
      if (row === undefined) {
        const shown = rows.size < DISTINCT ? short : OTHERS;
        key = shown === OTHERS ? `${permission} ${allowed} ${OTHERS}` : key;
        row = rows.get(key) ?? { access: { permission, value: shown, allowed }, times: 0 };
        rows.set(key, row);
      }
      row.times += 1;
      return row.times === 1;
    },
    list: () =>
      [...rows.values()].map(counted).sort((a, b) =>
        Number(a.allowed) - Number(b.allowed) || b.times - a.times
      ),
  });
}

function isKind(permission: string): permission is McpAccess["permission"] {
  return KINDS.has(permission);
}

/** Most refusals that one answer tells of. */
const TOLD = 8;

/** What was refused a server while a call ran: the caller is told where the server only says that it failed. */
interface RefusalBook {
  /** Takes a note of the log of servers, and keeps what was refused. */
  note(what: string, body: JsonObject): void;
  /** Notes how far it is; gives what was refused since, each once. */
  since(): () => readonly string[];
}

/** Makes an empty book. */
export function makeRefusalBook(): RefusalBook {
  const open = new Set<Set<string>>();
  return Object.freeze<RefusalBook>({
    note(what, { permission, value, host, allowed, ok }): void {
      const how = what === "access" ? String(permission) : "reach";
      const of = what === "access" ? value : host;
      const isRefusal = what === "access" ? allowed === false : what === "proxied" && ok === false;
      if (!isRefusal || typeof of !== "string") return;
      for (const each of open) {
        if (each.size < TOLD) each.add(`${how} ${JSON.stringify(of.slice(0, 500))}`);
      }
    },
    since() {
      const seen = new Set<string>();
      open.add(seen);
      return () => {
        open.delete(seen);
        return [...seen];
      };
    },
  });
}

/**
 * Of a program, whose walls report nothing: what the arguments of a call name and it was not granted. It could not have
 * read or reached that, whatever it says.
 */
export function ungrantedIn(
  args: Json | undefined,
  { read, write, net }: McpGrants,
): readonly string[] {
  const found = new Set<string>();
  const look = (value: Json | undefined, depth: number): void => {
    if (found.size >= TOLD || depth > 4) return;
    if (typeof value === "string") {
      if (/^https?:\/\/[^\s]+$/.test(value) && URL.canParse(value)) {
        const host = mcpHostOf(value);
        if (!net.includes(host)) found.add(`reach ${JSON.stringify(host.slice(0, 500))}`);
      } else if (/^\/[^\0\n]{1,500}$/.test(value) && value !== "/") {
        if (![...read, ...write].some((each) => beneath(each, value))) {
          found.add(`read ${JSON.stringify(value)}`);
        }
      }
    } else if (typeof value === "object" && value !== null) {
      for (const each of Object.values(value).slice(0, 64)) look(each, depth + 1);
    }
  };
  look(args, 0);
  return [...found];
}
