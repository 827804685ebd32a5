/** Reverts an applied patch, whole or in part, with the same checks as applying. Used by workspace.ts. @module */
import type { Colour, Label } from "../contracts/authority/colour.ts";
import { Fault } from "../contracts/base/fault.ts";
import type { Digest, Pid } from "../contracts/authority/ids.ts";
import type { JsonObject } from "../contracts/base/json.ts";
import type { Resolved } from "../contracts/task/power.ts";
import type { StagedChange } from "../contracts/tool/workspace.ts";
import { PUT_BACK, RESTORE, UNDO } from "./_wire.ts";
import { applyingScopes, type HostLink } from "./host_link.ts";
import type { AppliedPatch } from "./ledger.ts";
import { changeJson, patchDigest, reverseOf } from "./patch.ts";
import { resolveChanges } from "./resolve.ts";

/** The result of an undo. */
export interface Undone {
  /** Paths restored to their state before the patch. */
  readonly undone: readonly string[];
  /** Commit this record, then give it to the workspace's `fold`. */
  readonly record: JsonObject;
}

/** A prepared undo, ready for the gate's decision. */
export interface UndoCall {
  /** Scopes, effect and changes, as for `patch_apply`. */
  readonly resolved: Resolved;
  readonly changes: readonly StagedChange[];
  /**
   * Runs the undo.
   *
   * @throws Fault `conflict` with detail `{ patch, conflicts }` when a file changed since: nothing
   * was changed
   */
  invoke(options: {
    /** The process whose leases it runs under. */
    readonly pid: Pid;
    /** Unique among the host's running calls. */
    readonly id: string;
    readonly colour: Colour;
    readonly label: Label;
    readonly deadlineMs: number;
    readonly signal: AbortSignal;
    /** After a crash: revert only a patch that was applied in part. */
    readonly onlyHalf?: boolean;
  }): Promise<Undone>;
}

/** Which part of a patch is reverted. */
export interface UndoOptions {
  /** Only these files. */
  readonly paths?: readonly string[];
  /** A person named the files, so a missing file is created again. */
  readonly restores?: boolean;
}

/** Prepares an undo, whole or in part. Throws Fault `notFound` unless the patch is applied. */
export function makeUndoCall(
  parts: {
    readonly host: HostLink;
    executes(path: string): boolean;
    readonly applied: readonly AppliedPatch[];
    /** The patch may be applied in part, with temporary files of its job. */
    readonly torn?: boolean;
  },
  patch: Digest,
  { paths, restores = false }: UndoOptions = {},
): UndoCall {
  const found = parts.applied.findLast((one) => one.patch === patch);
  if (found === undefined) {
    throw new Fault("notFound", `Cannot undo patch ${patch.slice(0, 12)}: it is not applied`);
  }
  const named = found.changes.filter(({ path }) => paths?.includes(path) ?? true);
  const left = found.changes.filter((change) => !named.includes(change)).map(({ path }) => path);
  const changes = reverseOf(named);
  const id = parts.torn === true ? patch : patchDigest(changes);
  const resolved = resolveChanges(parts, changes, { colour: "BLUE", label: "public" });
  return Object.freeze({
    resolved: { ...resolved, summary: `undo: ${resolved.summary}` },
    changes,
    async invoke(options: Parameters<UndoCall["invoke"]>[0]): Promise<Undone> {
      const { pid, id: call, colour, label, deadlineMs, signal } = options;
      const args = {
        patch: id,
        changes: changes.map(changeJson),
        prune: found.made,
        ...(restores ? { [RESTORE]: true } : {}),
        ...(parts.torn === true ? { [PUT_BACK]: options.onlyHalf === true ? "half" : "all" } : {}),
      };
      await parts.host.call(
        { id: call, tool: UNDO, args, deadlineMs, bytes: 65_536, key: id, colour, label },
        { pid, scopes: applyingScopes(resolved.scopes), writable: true, signal, deadlineMs },
      );
      const record = { undone: { patch, ...(left.length === 0 ? {} : { left }) } };
      return { undone: changes.map(({ path }) => path), record };
    },
  });
}
