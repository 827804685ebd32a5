/** A task's workspace as the kernel needs it, around the one that workspace/ makes. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { CallId, Digest } from "../../contracts/authority/ids.ts";
import type { Staged } from "../../contracts/task/control_answers.ts";
import type { UndoOutcome } from "../../contracts/task/hosting.ts";
import { isObject, type JsonObject } from "../../contracts/base/json.ts";
import type { ToolBinding } from "../../contracts/task/power.ts";
import type { Powers, ProcessRow } from "../../contracts/task/process.ts";
import type { EventLog } from "../../contracts/task/store.ts";
import type { Artifact, Conflict, PatchSet, StagedChange } from "../../contracts/tool/workspace.ts";
import type { Looking } from "../power/plugin/host_functions.ts";
import type { McpWorkspace } from "../power/mcp/mcp_tools.ts";
import type { TaskWiki, WikiGuard } from "../power/wiki/wiki_tools.ts";

/** The workspace that workspace/mod.ts makes. */
export interface MadeWorkspace extends Pick<McpWorkspace, "applyNow"> {
  artifacts(): readonly Artifact[];
  readonly bindings: ReadonlyMap<string, ToolBinding>;
  overlay(): readonly StagedChange[];
  patch(): PatchSet | undefined;
  applied(): readonly { readonly patch: Digest; readonly changes: readonly StagedChange[] }[];
  fold(record: JsonObject): void;
  check(
    patch: PatchSet,
    call: {
      readonly process: ProcessRow;
      readonly id: string;
      readonly deadlineMs: number;
      readonly signal: AbortSignal;
    },
  ): Promise<void>;
  undoCall(
    patch: Digest,
    options?: { readonly paths?: readonly string[]; readonly restores?: boolean },
  ): MadeUndo;
  putBackCall(patch: Digest, paths: readonly string[]): MadeUndo | undefined;
}

/** An undo that is ready to run. */
export interface MadeUndo {
  invoke(options: {
    readonly pid: ProcessRow["pid"];
    readonly id: string;
    readonly colour: StagedChange["colour"];
    readonly label: StagedChange["label"];
    readonly deadlineMs: number;
    readonly signal: AbortSignal;
    readonly onlyHalf?: boolean;
  }): Promise<{ readonly undone: readonly string[]; readonly record: JsonObject }>;
}

/** Staged changes and applied patches of one task, and the tools over them. */
export interface TaskWorkspace
  extends Looking, Pick<MadeWorkspace, "overlay" | "patch" | "applied" | "fold" | "putBackCall"> {
  /** Protects the parts of mounts that belong to a wiki. */
  readonly wikis: WikiGuard;
  /** The task's wiki. */
  readonly memory?: TaskWiki;
  /** Tools over the workspace, and the others of the task. */
  readonly tools: ReadonlyMap<string, ToolBinding>;
  /** A proposal of the agent waits for a person; the agent's program continues afterwards. */
  unfinished(): boolean;
  /** `content`: the folder of content-addressed files. */
  staged(content: string): Staged;
  /** Why the staged changes do not fit the folder now; undefined where they fit, or where that is unknown. */
  stale(caller: ProcessRow): Promise<string | undefined>;
  /**
   * Undoes the newest applied patch, or the last patches of `files`, file by file. Files that
   * changed since are reported and stay. Rejects with `notFound` where no such patch stands.
   */
  undo(caller: ProcessRow, files?: readonly string[]): Promise<UndoOutcome>;
}

/** A task's mail, as agents/ makes it. */
export interface TaskMail {
  readonly bindings: readonly ToolBinding[];
  fold(record: JsonObject): void;
  unfinished(): boolean;
}

/** Milliseconds that an undo may take. */
export const UNDO_MS = 60_000;

/** Adds the operator's view of a workspace, and undo. */
export function makeTaskWorkspace(
  made: MadeWorkspace & Looking,
  parts: {
    readonly log: EventLog;
    readonly powers: Pick<Powers, "token">;
    readonly others: readonly ToolBinding[];
    readonly memory?: TaskWiki | undefined;
    readonly mail?: TaskMail | undefined;
    readonly wikis: WikiGuard;
  },
): TaskWorkspace {
  const { overlay, patch, applied, putBackCall, readScope, look } = made;
  const { memory, mail, wikis, others } = parts;
  const fold = (record: JsonObject): void => {
    made.fold(record);
    mail?.fold(record);
  };
  /** Undoes these files of a patch, and returns those that changed since, which stay. */
  const takeBack = async (
    caller: ProcessRow,
    { patch, paths: all }: { readonly patch: Digest; readonly paths: readonly string[] },
    options: { readonly undone: string[]; readonly restores: boolean },
  ): Promise<readonly Conflict[]> => {
    const conflicts: Conflict[] = [];
    for (let paths = all; paths.length > 0;) {
      try {
        const back = await made.undoCall(patch, { paths, restores: options.restores }).invoke({
          pid: caller.pid,
          id: CallId.parse(`undo-${parts.powers.token()}`),
          colour: "BLUE",
          label: caller.label,
          deadlineMs: UNDO_MS,
          signal: new AbortController().signal,
        });
        await parts.log.append(caller.task, [{
          kind: "undone",
          body: { patch, actor: "operator" },
          private: { record: back.record, paths: [...back.undone] },
        }]);
        fold(back.record);
        options.undone.push(...back.undone);
        break;
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== "conflict") throw error;
        const found = conflictsOf(error), names = new Set(found.map(({ path }) => path));
        const rest = paths.filter((path) => !names.has(path));
        // INVARIANT: each round has fewer paths.
        if (rest.length === paths.length) throw error;
        conflicts.push(...found);
        paths = rest;
      }
    }
    return conflicts;
  };
  const tools = new Map(
    [...made.bindings.values(), ...others, ...memory?.bindings ?? []].map((each) =>
      [each.descriptor.name, wikis.guard(each)] as const
    ),
  );
  return Object.freeze({
    ...{ tools, overlay, patch, applied, fold, putBackCall, readScope, look },
    wikis,
    ...(memory === undefined ? {} : { memory }),
    unfinished: () => mail?.unfinished() ?? false,
    staged: (content: string): Staged => ({
      patch: patch()?.id ?? null,
      changes: overlay(),
      applied: made.applied().map(({ patch, changes }) => ({ patch, changes, undone: false })),
      content,
    }),
    async stale(caller: ProcessRow): Promise<string | undefined> {
      const proposed = patch();
      if (proposed === undefined) return undefined;
      try {
        await made.check(proposed, {
          process: caller,
          id: CallId.parse(`check-${parts.powers.token()}`),
          deadlineMs: UNDO_MS,
          signal: new AbortController().signal,
        });
        return undefined;
      } catch (error) {
        // The gate reports other obstacles.
        if (!(error instanceof Fault)) throw error;
        return error.code === "conflict" ? error.message : undefined;
      }
    },
    async undo(caller: ProcessRow, files?: readonly string[]): Promise<UndoOutcome> {
      const undone: string[] = [], conflicts: Conflict[] = [];
      const options = { undone, restores: files !== undefined };
      for (const part of chosen(made.applied(), caller.task, files)) {
        conflicts.push(...await takeBack(caller, part, options));
      }
      return { undone, conflicts, standing: made.applied().length };
    },
  });
}

/** The paths to undo, by patch, newest first. Throws Fault `notFound`. */
function chosen(
  applied: ReturnType<MadeWorkspace["applied"]>,
  task: ProcessRow["task"],
  files: readonly string[] | undefined,
): readonly { readonly patch: Digest; readonly paths: readonly string[] }[] {
  const last = applied.at(-1);
  if (last === undefined) {
    throw new Fault("notFound", `Cannot undo task ${task}: it applied nothing that still stands`);
  }
  if (files === undefined) {
    return [{ patch: last.patch, paths: last.changes.map(({ path }) => path) }];
  }
  const open = new Set(files);
  const found = applied.toReversed().flatMap(({ patch, changes }) => {
    const paths = changes.map(({ path }) => path).filter((path) => open.delete(path));
    return paths.length === 0 ? [] : [{ patch, paths }];
  });
  const [missing] = open;
  if (missing === undefined) return found;
  throw new Fault(
    "notFound",
    `Cannot undo "${missing}": task ${task} applied nothing to it that still stands (see remit diff ${task})`,
  );
}

function conflictsOf(fault: Fault): readonly Conflict[] {
  const found = fault.detail?.["conflicts"];
  if (!Array.isArray(found)) return [];
  return found.flatMap((each): Conflict[] => {
    if (!isObject(each)) return [];
    const { path, expected, found, why } = each;
    return [{
      path: String(path),
      ...(typeof why === "string" ? { why } : {}),
      expected: Digest.safeParse(expected).data,
      found: Digest.safeParse(found).data,
    }];
  });
}
