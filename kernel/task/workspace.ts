/** A task's workspace as the kernel needs it, over what workspace/ makes. @module */
import {
  type Artifact,
  CallId,
  type Conflict,
  Digest,
  type EventLog,
  Fault,
  type JsonObject,
  type PatchSet,
  type Powers,
  type ProcessRow,
  type Staged,
  type StagedChange,
  type ToolBinding,
  type UndoOutcome,
} from "../../contracts/mod.ts";
import type { Looking } from "../plugin/host_functions.ts";
import type { McpWorkspace } from "../mcp/mcp_tools.ts";
import type { WikiGuard } from "../wiki/guard.ts";
import type { TaskWiki } from "../wiki/wiki_tools.ts";

/** What workspace/ makes: see its mod.ts. */
export interface MadeWorkspace extends Pick<McpWorkspace, "applyNow"> {
  artifacts(): readonly Artifact[];
  readonly bindings: ReadonlyMap<string, ToolBinding>;
  overlay(): readonly StagedChange[];
  patch(): PatchSet | undefined;
  applied(): readonly { readonly patch: Digest; readonly changes: readonly StagedChange[] }[];
  fold(record: JsonObject): void;
  undoCall(patch: Digest): MadeUndo;
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
  /** What of the mounts is a wiki's own. */
  readonly wikis: WikiGuard;
  /** The wiki that the task was handed. */
  readonly memory?: TaskWiki;
  /** Tools over the workspace, and the others of the task. */
  readonly tools: ReadonlyMap<string, ToolBinding>;
  /** What its agent proposed waits for a person: its program goes on once that is settled. */
  unfinished(): boolean;
  /** `content`: the folder of content-addressed files. */
  staged(content: string): Staged;
  /** Takes back the newest applied patch; conflicts are reported, nothing is overwritten. */
  undo(caller: ProcessRow): Promise<UndoOutcome>;
}

/** A task's mail, as agents/ makes it. */
export interface TaskMail {
  readonly bindings: readonly ToolBinding[];
  fold(record: JsonObject): void;
  unfinished(): boolean;
}

/** Milliseconds that an undo may take. */
export const UNDO_MS = 60_000;

/** Adds what the operator does with a workspace: look at it, and take patches back. */
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
    async undo(caller: ProcessRow): Promise<UndoOutcome> {
      const last = made.applied().at(-1);
      if (last === undefined) {
        throw new Fault(
          "notFound",
          `Cannot undo task ${caller.task}: it applied nothing that still stands`,
        );
      }
      try {
        const { undone, record } = await made.undoCall(last.patch).invoke({
          pid: caller.pid,
          id: CallId.parse(`undo-${parts.powers.token()}`),
          colour: "BLUE",
          label: caller.label,
          deadlineMs: UNDO_MS,
          signal: new AbortController().signal,
        });
        await parts.log.append(caller.task, [{
          kind: "undone",
          body: { patch: last.patch, actor: "operator" },
          private: { record, paths: [...undone] },
        }]);
        fold(record);
        return { undone, conflicts: [], standing: made.applied().length };
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== "conflict") throw error;
        return { undone: [], conflicts: conflictsOf(error), standing: made.applied().length };
      }
    },
  });
}

function conflictsOf(fault: Fault): readonly Conflict[] {
  const found = fault.detail?.["conflicts"];
  if (!Array.isArray(found)) return [];
  return found.flatMap((each): Conflict[] => {
    if (each === null || typeof each !== "object" || Array.isArray(each)) return [];
    const { path, expected, found } = each as JsonObject;
    return [{
      path: String(path),
      expected: Digest.safeParse(expected).data,
      found: Digest.safeParse(found).data,
    }];
  });
}
