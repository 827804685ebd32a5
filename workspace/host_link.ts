/** The kernel's connection to the toolhost. Used by undo.ts and workspace.ts. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { Pid } from "../contracts/authority/ids.ts";
import type { JsonObject } from "../contracts/base/json.ts";
import type { Scope } from "../contracts/authority/lease.ts";
import type { GrantedCall } from "../contracts/task/power.ts";
import type { HostCallAnswer, HostCallBody } from "../contracts/wire/wire_toolhost.ts";
import { sha256Hex } from "../port/digest.ts";
import { CHANGES_KEY, FOLLOWED_KEY, LEADS_TO, OVERLAY_KEY } from "./_wire.ts";
import type { Overlay } from "./overlay.ts";
import { changeJson } from "./patch.ts";
import { parsePath } from "./path.ts";

/** How one call runs in a toolhost. */
export interface HostCallOptions {
  /** The process whose leases the call runs under. */
  readonly pid: Pid;
  /** What the call may touch while it runs. */
  readonly scopes: readonly Scope[];
  /** True for a separate toolhost whose mounts are bound read-write. */
  readonly writable: boolean;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/** Sends calls to a task's toolhosts. Rejects with the faults that they throw. */
export interface HostLink {
  call(body: HostCallBody, options: HostCallOptions): Promise<HostCallAnswer>;
}

/** The part of a call that the host receives. */
export interface HostedCall extends
  Pick<
    GrantedCall,
    "pid" | "args" | "deadlineMs" | "resultBytes" | "idempotencyKey" | "alsoReads"
  > {
  readonly tool: string;
  readonly resolved: Pick<GrantedCall["resolved"], "scopes" | "colour" | "label">;
}

/** Maximum number of links that one call follows. */
const MAX_FOLLOWED = 8;

/**
 * Calls a tool in the host, against the kernel's overlay: a host with a stale copy receives the
 * whole overlay. Where a link leads to another file of its mount, the call is repeated with read
 * access to that file, if the gate allows it.
 */
export async function callHost(
  parts: { readonly host: HostLink; readonly overlay: Overlay },
  call: HostedCall,
  options: { readonly writable: boolean; readonly signal: AbortSignal; readonly id: string },
): Promise<HostCallAnswer> {
  const { host, overlay } = parts;
  const { writable, signal } = options;
  const digest: JsonObject = { [OVERLAY_KEY]: sha256Hex(overlay.canonical()) };
  const followed = new Set<string>();
  let more = digest;
  for (;;) {
    const scopes = [
      ...call.resolved.scopes,
      ...[...followed].map((path): Scope => ({ resource: "mount", right: "read", path })),
    ];
    try {
      return await host.call({ ...bodyOf(call, options.id), args: { ...call.args, ...more } }, {
        pid: call.pid,
        scopes: writable ? applyingScopes(scopes) : scopes,
        writable,
        signal,
        deadlineMs: call.deadlineMs,
      });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const to = error.detail?.[LEADS_TO];
      if (error.detail?.["stale"] === true && more[CHANGES_KEY] === undefined) {
        more = { ...more, [CHANGES_KEY]: overlay.list().map(changeJson) };
      } else if (
        typeof to === "string" && call.alsoReads !== undefined && !followed.has(to) &&
        followed.size < MAX_FOLLOWED
      ) {
        // TRUST: the host supplies only a name; the gate judges it like any other.
        call.alsoReads(parsePath(to).text);
        followed.add(to);
        more = { ...more, [FOLLOWED_KEY]: [...followed] };
      } else throw error;
    }
  }
}

/**
 * The scopes that applying needs: temporary names beside each file, and the folders above it that
 * may have to be made. Only the short-lived writing host receives them.
 */
export function applyingScopes(scopes: readonly Scope[]): readonly Scope[] {
  const wide = scopes.map((scope): Scope => {
    if (scope.resource !== "mount") return scope;
    const [mount = "", first, ...more] = scope.path.split("/");
    return {
      ...scope,
      path: more.length === 0 || first === undefined ? mount : `${mount}/${first}`,
    };
  });
  return [
    ...new Map(wide.map((scope) => [`${scope.resource} ${scope.right} ${scope.path}`, scope]))
      .values(),
  ];
}

function bodyOf(call: HostedCall, id: string): HostCallBody {
  return {
    id,
    tool: call.tool,
    args: call.args,
    deadlineMs: call.deadlineMs,
    bytes: call.resultBytes,
    key: call.idempotencyKey,
    colour: call.resolved.colour ?? "RED",
    label: call.resolved.label ?? "secret",
  };
}
