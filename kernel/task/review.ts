/** The review at the end of a turn: all that is staged, proposed as one patch through the gate. @module */
import {
  CallId,
  Fault,
  type Gate,
  type ProcessRow,
  QuestionId,
  type ReviewOutcome,
  type ToolCall,
} from "../../contracts/mod.ts";
import { type DeniedPatches, hasFailed } from "./denied_patch.ts";
import type { TaskWorkspace } from "./workspace.ts";

/** What {@link makeReview} is handed. */
export interface ReviewParts {
  readonly gate: Gate;
  readonly row: ProcessRow;
  readonly workspace: Pick<TaskWorkspace, "patch" | "stale">;
  /** Patches that a person denied already, and those that were allowed and failed. */
  readonly denied: Omit<DeniedPatches, "gate">;
}

/**
 * Makes the review of one process; `begins` is waited for before it asks. A person who denies keeps
 * the changes staged. What the folder could not take is not asked about: the question would show a
 * change that can no longer be made, and a yes to it would do nothing.
 */
export function makeReview(
  { gate, row, workspace, denied }: ReviewParts,
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
    // Named by the patch: the same patch after a crash or a wait is the same call.
    const call: ToolCall = {
      id: CallId.parse(`review-${patch.id.slice(0, 32)}`),
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
