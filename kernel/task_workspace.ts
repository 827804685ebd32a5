/** A task's workspace as the kernel needs it; main.ts makes one from workspace/. @module */
import type {
  Artifact,
  Digest,
  JsonObject,
  PatchSet,
  ProcessRow,
  Staged,
  StagedChange,
  ToolBinding,
  UndoOutcome,
} from "../contracts/mod.ts";

/** Staged changes, applied patches and artifacts of one task, and the tools over them. */
export interface TaskWorkspace {
  readonly bindings: ReadonlyMap<string, ToolBinding>;
  overlay(): readonly StagedChange[];
  /** What waits for review; undefined when nothing does. */
  patch(): PatchSet | undefined;
  /** Replays the `record` of a committed outcome. */
  fold(record: JsonObject): void;
  /** Replays an undo. */
  undone(patch: Digest | string): void;
  /** Colour and label of contents by digest. */
  recorded(): readonly {
    readonly digest: string;
    readonly colour: StagedChange["colour"];
    readonly label: StagedChange["label"];
  }[];
  staged(content: string): Staged;
  artifacts(): readonly Artifact[];
  /** Takes back the newest patch that is not undone; conflicts are reported, nothing overwritten. */
  undo(caller: ProcessRow): Promise<UndoOutcome>;
  /** A call of this task was refused for its colour under `strict`. */
  contaminated(): boolean;
}
