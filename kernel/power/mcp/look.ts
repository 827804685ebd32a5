/**
 * Starts a server outside of any task to see its listing and its accesses. An observed server is
 * granted nothing; where it ends at its first refusal, it is started again with an empty folder or
 * host in that place, so that its next requests are seen. Wired in kernel/main_mcp.ts.
 * @module
 */
import { defined } from "../../core/process/defined.ts";
import { basename, dirname, extname } from "node:path";
import { Fault } from "../../../contracts/base/fault.ts";
import { LeaseId, Pid, TaskId } from "../../../contracts/authority/ids.ts";
import { makeDeadlines } from "../../core/process/limits.ts";
import { McpHost } from "../../../contracts/exchange/mcp.ts";
import type {
  ImportedServer,
  McpAccess,
  McpLook,
  ServerListing,
} from "../../../contracts/exchange/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import { type AccessBook, makeAccessBook } from "./start.ts";
import type { McpProxies } from "./proxies.ts";
import type { ServerCopies } from "./copies.ts";
import { whyNotGranted } from "../../core/start/mcp_binds.ts";
import type { McpServe, McpUnder } from "./calls.ts";
import type { McpChildren } from "../../core/child/mcp_children.ts";
import type { LeasedGrant } from "./mcp_judge.ts";
import { NAMESPACE } from "../../core/start/line_parts.ts";
import { beneath } from "../../core/lease/scope.ts";
import { PRIVATE } from "../../core/start/mcp_line.ts";
import { type McpRunParts, startMcpRun } from "./mcp_run.ts";
import { makeMcpTrees } from "./tree.ts";
import type { Judge } from "../../core/child/permission_line.ts";

/** Starts of one look. */
const MAX_STARTS = 7;
/** UTF-16 units that are kept of the server's standard error. */
const MAX_ERRORS = 16_384;

/** Options of a look. */
export interface LookOptions {
  /** Withholds all grants. */
  readonly observe: boolean;
  /** Milliseconds for the whole look. */
  readonly deadlineMs: number;
}

/** The starters of servers, the proxies and the kernel's services. */
export interface McpLookParts {
  readonly children: McpChildren;
  readonly powers: Pick<Powers, "now" | "after">;
  readonly proxies?: McpProxies;
  readonly serve: Pick<McpServe, "http" | "httpRead" | "httpCancel" | "env">;
  /** Copies for a server that must write to start; its changes are dropped. */
  copies(server: ImportedServer): Promise<ServerCopies | undefined>;
  /** Like in a task: see {@link McpRunParts}. */
  readonly forbids?: NonNullable<McpRunParts["forbids"]>;
  readonly forbiddenNames?: readonly string[];
}

/** Looks at a server. Rejects with `refused` (the server's files changed), `unavailable`; for a URL as `startMcpRun` does. */
export type LookAtMcp = (server: ImportedServer, options: LookOptions) => Promise<McpLook>;

/** The ids of a look, which has no task and no process. */
export const NO_TASK = TaskId.parse("t000000000000");
const NO_PID = Pid.parse(1);
const NO_LEASE = LeaseId.parse("l000000000000");

/** Empty folders and unreachable hosts that a server may use. */
interface Fakes {
  readonly folders: Set<string>;
  readonly hosts: Set<string>;
}

interface Seen {
  readonly book: AccessBook;
  /** Refused accesses, oldest first. */
  readonly refused: Pick<McpAccess, "permission" | "value">[];
  errors: string;
  ended: string | undefined;
}

/** Makes the function that looks at servers. */
export function makeMcpLook(parts: McpLookParts): LookAtMcp {
  const { children, powers } = parts;
  const trees = makeMcpTrees({ powers, start: children.mcpTree });

  const once = async (
    server: ImportedServer,
    options: LookOptions & {
      readonly fakes: Fakes;
      readonly signal: AbortSignal;
      readonly copies: ServerCopies | undefined;
    },
    seen: Seen,
  ): Promise<{ words: ServerListing; readyMs: number } | undefined> => {
    const { observe, fakes, signal, deadlineMs, copies } = options;
    const run: McpRunParts = {
      ...{ children, trees, powers, at: { task: NO_TASK, server } },
      ...defined({ proxies: parts.proxies, forbids: parts.forbids }),
      forbiddenNames: parts.forbiddenNames ?? [],
      serve: { ...parts.serve, ...hearing(seen) },
      grants: observe ? [] : heldNow(server, copies?.from),
      copies: copies?.from,
      alive: () => true,
      deadlines: makeDeadlines(powers),
      warms: true,
      ...(observe
        ? { observing: { judge: observing(seen, fakes), empty: shortestFirst(fakes.folders) } }
        : {}),
    };
    let end = (_why: string): Promise<void> => Promise.resolve();
    const stop = (): void => void end("the look was over");
    signal.addEventListener("abort", stop);
    try {
      const started = await startMcpRun(run, (processes) => {
        end = processes.end;
        if (signal.aborted) stop();
      });
      const under: McpUnder = { pid: NO_PID, callId: "look", holds: "read", deadlineMs, signal };
      const words = await started.words(under);
      return { words, readyMs: started.readyMs };
    } catch (error) {
      if (!(error instanceof Fault) || error.code === "refused" || error.code === "unavailable") {
        throw error;
      }
      seen.ended ??= error.message;
      return undefined;
    } finally {
      await end("the look was over");
      signal.removeEventListener("abort", stop);
    }
  };

  return async (server, options) => {
    const overdue = new AbortController();
    const disarm = powers.after(options.deadlineMs, () => overdue.abort());
    const fakes: Fakes = { folders: new Set(), hosts: new Set() };
    let copies: ServerCopies | undefined;
    const seen: Seen = { book: makeAccessBook(), refused: [], errors: "", ended: undefined };
    try {
      for (let starts = 1;; starts++) {
        seen.ended = undefined;
        const found = await once(
          server,
          { ...options, fakes, signal: overdue.signal, copies },
          seen,
        );
        const again = found === undefined && options.observe && starts < MAX_STARTS &&
          !overdue.signal.aborted && faked(seen, fakes);
        if (again) continue;
        if (found === undefined && !options.observe && copies === undefined && mustCopy(server)) {
          copies = await parts.copies(server);
          if (copies !== undefined) continue;
        }
        return Object.freeze<McpLook>({
          ...(found ?? {}),
          ...(found === undefined && seen.ended !== undefined ? { ended: seen.ended } : {}),
          accesses: seen.book.list(),
          errors: seen.errors,
        });
      }
    } finally {
      disarm();
      await copies?.close();
    }
  };
}

/** A look changes no person's file, so a program that must write to start gets copies. */
function mustCopy({ launch, grants }: ImportedServer): boolean {
  return launch.kind === "program" && grants.write.length > 0;
}

/** Collects a run's log entries. */
function hearing(seen: Seen): Pick<McpServe, "log" | "ended" | "elicit" | "sample"> {
  const nobody = (): Promise<never> =>
    Promise.reject(new Fault("refused", "Cannot ask: the server is only looked at"));
  return {
    ...{ elicit: nobody, sample: nobody, ended: () => undefined },
    log(_at, what, body = {}, text = ""): void {
      if (what === "errors" && body["bytes"] !== undefined) seen.errors = text.slice(-MAX_ERRORS);
      if (what === "ended") seen.ended = text;
      const { permission, value, allowed } = body;
      if (what === "access" && typeof permission === "string") {
        seen.book.note(permission, typeof value === "string" ? value : null, allowed === true);
      }
    },
  };
}

/** All grants of the server. Write grants become read grants, except where a copy takes their place. */
function heldNow(
  { grants, launch }: ImportedServer,
  copies: ServerCopies["from"] = {},
): readonly LeasedGrant[] {
  if (launch.kind === "http") return [];
  const held = (right: LeasedGrant["right"], values: readonly string[]): LeasedGrant[] =>
    values.map((value) => ({ right, value, lease: NO_LEASE }));
  return [
    ...held("read", [
      ...grants.read,
      ...grants.write.filter((path) => !Object.hasOwn(copies, path)),
    ]),
    ...held("write", grants.write.filter((path) => Object.hasOwn(copies, path))),
    ...held("net", grants.net),
  ];
}

/** Notes every access and refuses it, except inside empty folders and hosts. */
function observing({ book, refused }: Seen, fakes: Fakes): Judge {
  return (permission, value) => {
    if (permission === "env") {
      book.note(permission, value, true);
      return { allow: true };
    }
    const ownPlace = value !== null && (beneath(PRIVATE, value) ||
      permission === "read" && beneath(NAMESPACE.denoDir, value));
    if (ownPlace && (permission === "read" || permission === "write")) return { allow: true };
    book.note(permission, value, false);
    const empty = value !== null &&
      (permission === "net"
        ? fakes.hosts.has(value)
        : [...fakes.folders].some((each) =>
          (permission === "read" || permission === "write") && beneath(each, value)
        ));
    if (empty) return { allow: true };
    if (isKind(permission)) refused.push({ permission, value });
    // Bounds memory; the newest stay.
    if (refused.length > 1_000) refused.splice(0, 500);
    return { allow: false, reason: "Cannot be used: the server is only looked at" };
  };
}

function isKind(permission: string): permission is McpAccess["permission"] {
  return ["read", "write", "net", "run", "sys", "ffi", "import"].includes(permission);
}

/** Adds an empty folder or host for the last refused access. False where none can be added. */
function faked(seen: Seen, fakes: Fakes): boolean {
  for (const { permission, value } of seen.refused.splice(0).reverse()) {
    if (value === null) continue;
    if (permission === "net" && McpHost.safeParse(value).success && !fakes.hosts.has(value)) {
      fakes.hosts.add(value);
      return true;
    }
    if (permission !== "read" && permission !== "write") continue;
    const folder = isFile(value) ? dirname(value) : value;
    if (fakes.folders.has(folder) || whyNotGranted(folder, []) !== undefined) continue;
    fakes.folders.add(folder);
    return true;
  }
  return false;
}

/** Outer paths before inner ones. */
function shortestFirst(paths: Iterable<string>): string[] {
  return [...paths].sort((a, b) => a.length - b.length);
}

/** A name with an extension counts as a file, whose empty folder is made instead. */
function isFile(path: string): boolean {
  return extname(path) !== "" && !basename(path).startsWith(".");
}
