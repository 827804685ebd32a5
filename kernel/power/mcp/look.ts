/**
 * Looks at a server outside of any task: what it says of itself, what it asks for. While it is observed nothing is
 * granted; where it ends at its first refusal it is started again with something empty in that place, so that what it
 * wants next is seen.
 * @module
 */
import { basename, dirname, extname } from "node:path";
import { Fault } from "../../../contracts/base/fault.ts";
import { LeaseId, Pid, TaskId } from "../../../contracts/authority/ids.ts";
import { McpHost } from "../../../contracts/exchange/mcp.ts";
import type {
  ImportedServer,
  McpAccess,
  McpLook,
  ServerListing,
} from "../../../contracts/exchange/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import { type AccessBook, makeAccessBook, type McpProxies } from "./start.ts";
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

/** Most starts of one look. */
const STARTS = 7;
/** Most UTF-16 units of what it printed as errors. */
const ERRORS = 16_384;

/** How a server is looked at. */
export interface LookOptions {
  /** Grants nothing, whatever it was granted. */
  readonly observe: boolean;
  /** Milliseconds for all of it. */
  readonly deadlineMs: number;
}

/** What {@link makeMcpLook} is handed. */
export interface McpLookParts {
  readonly children: McpChildren;
  readonly powers: Pick<Powers, "now" | "after">;
  readonly proxies?: McpProxies;
  readonly serve: Pick<McpServe, "http" | "httpRead" | "httpCancel" | "env">;
  /** Copies of what a server may change, for one that must write to start: nobody keeps them. */
  copies(server: ImportedServer): Promise<ServerCopies | undefined>;
  /** As in a task: see {@link McpRunParts}. */
  readonly forbids?: NonNullable<McpRunParts["forbids"]>;
  readonly forbiddenNames?: readonly string[];
}

/** Looks at a server. Rejects with `refused` (its files changed), `unavailable`, and as a start of it for a URL. */
export type LookAtMcp = (server: ImportedServer, options: LookOptions) => Promise<McpLook>;

/** Nobody's: no task, no process. */
export const NO_TASK = TaskId.parse("t000000000000");
const NO_PID = Pid.parse(1);
const NO_LEASE = LeaseId.parse("l000000000000");

/** What stands empty in the place of what it wants. */
interface Fakes {
  readonly folders: Set<string>;
  readonly hosts: Set<string>;
}

interface Seen {
  readonly book: AccessBook;
  /** Refused, the latest last. */
  readonly refused: Pick<McpAccess, "permission" | "value">[];
  errors: string;
  ended: string | undefined;
}

/** Makes the look. */
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
      ...(parts.proxies === undefined ? {} : { proxies: parts.proxies }),
      ...(parts.forbids === undefined ? {} : { forbids: parts.forbids }),
      forbiddenNames: parts.forbiddenNames ?? [],
      serve: { ...parts.serve, ...hearing(seen) },
      grants: observe ? [] : heldNow(server, copies?.from),
      copies: copies?.from,
      alive: () => true,
      isFrozen: () => false,
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
        const again = found === undefined && options.observe && starts < STARTS &&
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

/** Nothing of a person's is changed by a look; a program that must write to start is given copies. */
function mustCopy({ launch, grants }: ImportedServer): boolean {
  return launch.kind === "program" && grants.write.length > 0;
}

/** Keeps what a run says of itself. */
function hearing(seen: Seen): Pick<McpServe, "log" | "ended" | "elicit" | "sample"> {
  const nobody = (): Promise<never> =>
    Promise.reject(new Fault("refused", "Cannot ask: the server is only looked at"));
  return {
    ...{ elicit: nobody, sample: nobody, ended: () => undefined },
    log(_at, what, body = {}, text = ""): void {
      if (what === "errors" && body["bytes"] !== undefined) seen.errors = text.slice(-ERRORS);
      if (what === "ended") seen.ended = text;
      const { permission, value, allowed } = body;
      if (what === "access" && typeof permission === "string") {
        seen.book.note(permission, typeof value === "string" ? value : null, allowed === true);
      }
    },
  };
}

/** Grants of the server, all of them held; what it may change it only reads, but for copies of it. */
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

/** Refuses everything but what stands empty in a place, and notes it. */
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
    if (refused.length > 1_000) refused.splice(0, 500);
    return { allow: false, reason: "Cannot be used: the server is only looked at" };
  };
}

function isKind(permission: string): permission is McpAccess["permission"] {
  return ["read", "write", "net", "run", "sys", "ffi", "import"].includes(permission);
}

/** Puts something empty in the place of the last thing that was refused. Tells whether it did. */
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

/** The outer before what lies in it. */
function shortestFirst(paths: Iterable<string>): string[] {
  return [...paths].sort((a, b) => a.length - b.length);
}

/** A name with an ending is a file's, which is then absent in an empty folder. */
function isFile(path: string): boolean {
  return extname(path) !== "" && !basename(path).startsWith(".");
}
