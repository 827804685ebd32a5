/** The kernel side's line to the toolhost. @module */
import { Fault } from "../contracts/fault.ts";
import type { Pid } from "../contracts/ids.ts";
import type { JsonObject } from "../contracts/json.ts";
import type { Scope } from "../contracts/lease.ts";
import type { GrantedCall } from "../contracts/power.ts";
import type { HostCallAnswer, HostCallBody } from "../contracts/wire_toolhost.ts";
import { sha256Hex } from "../port/digest.ts";
import { CHANGES_KEY, OVERLAY_KEY } from "./_wire.ts";
import type { Overlay } from "./overlay.ts";
import { changeJson } from "./patch.ts";

/** How one call runs in a toolhost. */
export interface HostCallOptions {
  /** Whose leases the call runs under. */
  readonly pid: Pid;
  /** What the call may touch while it runs. */
  readonly scopes: readonly Scope[];
  /** True for a toolhost of its own whose mounts are bound read-write. */
  readonly writable: boolean;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/** Sends calls to a task's toolhosts. Rejects with the faults that they throw. */
export interface HostLink {
  call(body: HostCallBody, options: HostCallOptions): Promise<HostCallAnswer>;
}

/** What of a call the host is told. */
export interface HostedCall
  extends Pick<GrantedCall, "pid" | "args" | "deadlineMs" | "resultBytes" | "idempotencyKey"> {
  readonly tool: string;
  readonly resolved: Pick<GrantedCall["resolved"], "scopes" | "colour" | "label">;
}

/** Calls a tool in the host, against the kernel's overlay: a host whose copy differs is given it. */
export async function callHost(
  parts: { readonly host: HostLink; readonly overlay: Overlay },
  call: HostedCall,
  options: { readonly writable: boolean; readonly signal: AbortSignal; readonly id: string },
): Promise<HostCallAnswer> {
  const { host, overlay } = parts;
  const { writable, signal } = options;
  const digest: JsonObject = { [OVERLAY_KEY]: sha256Hex(overlay.canonical()) };
  const attempt = (more: JsonObject): Promise<HostCallAnswer> =>
    host.call({ ...bodyOf(call, options.id), args: { ...call.args, ...more } }, {
      pid: call.pid,
      scopes: writable ? applyingScopes(call.resolved.scopes) : call.resolved.scopes,
      writable,
      signal,
      deadlineMs: call.deadlineMs,
    });
  try {
    return await attempt(digest);
  } catch (error) {
    if (!(error instanceof Fault) || error.detail?.["stale"] !== true) throw error;
    return await attempt({ ...digest, [CHANGES_KEY]: overlay.list().map(changeJson) });
  }
}

/**
 * What applying to these scopes takes: temporary names beside each file, and the folders above it
 * that may have to be made. Only the short-lived writing host is given so much.
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
