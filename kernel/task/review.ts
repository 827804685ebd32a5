/**
 * The review at the end of a turn: all staged changes, proposed as one patch through the gate. Used
 * by hosted_task.ts and task_host.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { ToolCall } from "../../contracts/model/chat.ts";
import type { Gate } from "../../contracts/authority/gate.ts";
import type { ReviewOutcome } from "../../contracts/task/hosting.ts";
import { CallId, type Digest, QuestionId } from "../../contracts/authority/ids.ts";
import type { Powers, ProcessRow } from "../../contracts/task/process.ts";
import type { EventLog } from "../../contracts/task/store.ts";
import type { ToolResult } from "../../contracts/tool/tool.ts";
import type { TornPatch } from "./replay.ts";
import { type MadeUndo, type TaskWorkspace, UNDO_MS } from "./workspace.ts";

interface ReviewParts {
  readonly gate: Gate;
  readonly row: ProcessRow;
  readonly workspace: Pick<TaskWorkspace, "patch" | "stale">;
  /** Patches that a person denied, or that were allowed and failed. */
  readonly denied: Omit<DeniedPatches, "gate">;
  /** Results of calls under an earlier kernel. */
  readonly past?: Iterable<Pick<ToolResult, "callId" | "outcome">>;
}

/**
 * Makes the review of one process, which waits for `begins` before it asks. After a denial the
 * changes stay staged. A patch that the folder cannot take is not asked about: the question would
 * show an impossible change, and consent would do nothing.
 */
export function makeReview(
  { gate, row, workspace, denied, past = [] }: ReviewParts,
): (begins: () => Promise<unknown>) => Promise<ReviewOutcome> {
  return async (begins) => {
    const patch = workspace.patch();
    if (patch === undefined) {
      const why = denied.unwritten();
      return why === undefined ? { kind: "nothing" } : { kind: "kept", why, failed: true };
    }
    if (denied.has(patch.id)) return { kind: "kept", why: "a person denied them" };
    const why = await workspace.stale(row) ?? denied.failed(patch.id);
    if (why !== undefined) return { kind: "kept", why, failed: true };
    await begins();
    // The id comes from the patch: the same patch after a crash or a wait is the same call. A
    // failed patch gets a new id when the task is resumed, since its obstacle may be gone: the old
    // call would return its old result.
    const name = `review-${patch.id.slice(0, 32)}`;
    const tried = [...past].filter((each) => each.callId.startsWith(name) && hasFailed(each));
    const call: ToolCall = {
      id: CallId.parse(tried.length === 0 ? name : `${name}#${tried.length + 1}`),
      name: "patch_apply",
      arguments: "{}",
    };
    const abort = new AbortController();
    row.calls.set(call.id, { tool: call.name, since: 0, abort });
    try {
      const snapshot = gate.advertise(row.pid);
      const result = await gate.call(row.pid, call, snapshot.id, abort.signal);
      return result.outcome === "ok" ? { kind: "applied", patch: patch.id } : {
        ...{ kind: "kept", why: result.error ?? result.outcome },
        ...(hasFailed(result) ? { failed: true } : {}),
      };
    } catch (error) {
      const question = error instanceof Fault && error.code === "needsApproval"
        ? QuestionId.safeParse(error.detail?.["question"])
        : undefined;
      if (question?.success !== true) throw error;
      return { kind: "waiting", question: question.data };
    } finally {
      row.calls.delete(call.id);
    }
  };
}

// Patches that a person denied, or that were allowed and failed: the review does not propose them again.

/** A gate, and the patches that were denied or failed through it. */
interface DeniedPatches {
  readonly gate: Gate;
  has(patch: Digest): boolean;
  /** Why applying this patch failed, after it was allowed. */
  failed(patch: Digest): string | undefined;
  /** Why the last allowed write to a file of a mount in mode `rw` failed, unless a later one succeeded. */
  unwritten(): string | undefined;
}

/** The ways in which models write empty arguments. */
const NONE: ReadonlySet<string> = new Set(["{}", "null", '"{}"', '"null"']);

/** Tools that write directly to a mount in mode `rw`. */
const WRITING: ReadonlySet<string> = new Set(["file_write", "file_edit", "file_delete"]);

/** The beginning of every refusal to apply a change to a folder. */
const APPLYING = "Cannot apply";

/** Tells whether a call was allowed and failed. */
function hasFailed({ outcome }: Pick<ToolResult, "outcome">): boolean {
  return outcome === "executionError" || outcome === "timedOut";
}

/** Wraps a gate and records the outcomes of the whole patch, which `patch` returns at any moment. */
export function watchDenials(
  gate: Gate,
  patch: () => { readonly id: Digest } | undefined,
): DeniedPatches {
  const denied = new Set<Digest>(), failed = new Map<Digest, string>();
  const unwritten = new Map<string, string>();
  const note = (result: ToolResult, given: string): void => {
    const path = pathIn(given);
    if (path === undefined) return;
    const why = result.error ?? result.outcome;
    if (result.outcome === "ok") unwritten.delete(path);
    else if (hasFailed(result) && why.startsWith(APPLYING)) unwritten.set(path, why);
  };
  return Object.freeze({
    gate: Object.freeze({
      advertise: gate.advertise,
      decide: gate.decide,
      withhold: gate.withhold,
      async call(...asked: Parameters<Gate["call"]>): ReturnType<Gate["call"]> {
        const [, call] = asked;
        // With paths the call applies a part of the patch and says nothing about the rest.
        const whole = call.name === "patch_apply" && NONE.has(call.arguments.trim());
        const proposed = whole ? patch() : undefined;
        const result = await gate.call(...asked);
        if (WRITING.has(call.name)) note(result, call.arguments);
        if (proposed === undefined) return result;
        if (result.outcome === "deniedByUser") denied.add(proposed.id);
        if (hasFailed(result)) failed.set(proposed.id, result.error ?? result.outcome);
        return result;
      },
    }),
    has: (each: Digest) => denied.has(each),
    failed: (each: Digest) => failed.get(each),
    unwritten: () => [...unwritten.values()].at(-1),
  });
}

/** The path in a call's arguments, as written. */
function pathIn(given: string): string | undefined {
  try {
    const args: unknown = JSON.parse(given);
    const path = args !== null && typeof args === "object" && "path" in args
      ? args.path
      : undefined;
    return typeof path === "string" ? path : undefined;
  } catch {
    // Unreadable arguments were refused by the gate.
    return undefined;
  }
}

// A patch that a crash may have left half in the folder. When the task is resumed, a half-applied
// patch is put back at once: the folder is all old or all new while a person is asked again. A
// patch that is then not applied again is put back as well.

interface TornParts {
  readonly torn: readonly TornPatch[];
  readonly workspace: Pick<TaskWorkspace, "applied" | "putBackCall">;
  /** The process under whose leases files are put back. */
  readonly row: ProcessRow;
  readonly log: EventLog;
  readonly powers: Pick<Powers, "token">;
  /** Reports why a patch could not be put back: a file has changed since, or no lease covers it. */
  note(why: string): void;
}

/** The torn patches of one task. */
export interface TornPatches {
  /** Puts half-applied patches back. */
  mend(): Promise<void>;
  /** Puts patches back that were not applied again. */
  settle(): Promise<void>;
}

/** Makes the torn patches from the staged changes, which are as the earlier kernel left them. */
export function makeTornPatches(parts: TornParts): TornPatches {
  const { row, workspace } = parts;
  const open = new Map<TornPatch, MadeUndo>();
  for (const torn of parts.torn) {
    const call = workspace.putBackCall(torn.patch, torn.paths);
    if (call !== undefined) open.set(torn, call);
  }

  const putBack = async (call: MadeUndo, onlyHalf: boolean): Promise<boolean> => {
    try {
      await call.invoke({
        pid: row.pid,
        id: CallId.parse(`back-${parts.powers.token()}`),
        colour: row.colour,
        label: row.label,
        deadlineMs: UNDO_MS,
        signal: new AbortController().signal,
        onlyHalf,
      });
      return true;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      parts.note(`Cannot put back a patch of task ${row.task}: ${error.message}`);
      return false;
    }
  };

  return Object.freeze({
    async mend(): Promise<void> {
      for (const call of open.values()) await putBack(call, true);
    },
    async settle(): Promise<void> {
      const left = [...open];
      open.clear();
      for (const [{ key, patch }, call] of left) {
        if (workspace.applied().some((each) => each.patch === patch)) continue;
        if (!await putBack(call, false)) continue;
        const body = { key, patch, actor: "recovery" };
        await parts.log.append(row.task, [{ kind: "undone", body }]);
      }
    },
  });
}
