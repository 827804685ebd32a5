/**
 * A patch that a crash may have left half in the folder. As soon as the task is taken up again, what
 * is half there is put back: the folder is all old or all new while a person is asked anew. And if
 * it is not to be applied after all, what went in whole is put back, too.
 * @module
 */
import { CallId, type EventLog, Fault, type Powers, type ProcessRow } from "../../contracts/mod.ts";
import type { TornPatch } from "../log/replay.ts";
import { type MadeUndo, type TaskWorkspace, UNDO_MS } from "./workspace.ts";

/** What {@link makeTornPatches} is handed. */
export interface TornParts {
  readonly torn: readonly TornPatch[];
  readonly workspace: Pick<TaskWorkspace, "applied" | "putBackCall">;
  /** Whose leases it runs under. */
  readonly row: ProcessRow;
  readonly log: EventLog;
  readonly powers: Pick<Powers, "token">;
  /** Says why something could not be put back: a file was changed since, or no lease covers it. */
  note(why: string): void;
}

/** The torn patches of one task. */
export interface TornPatches {
  /** Puts back what went in by half. */
  mend(): Promise<void>;
  /** Puts back what was not applied again. */
  settle(): Promise<void>;
}

/** Makes them, from what is staged now: as it was when the kernel ended. */
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
