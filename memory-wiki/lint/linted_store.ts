/** As much of the store as the lint sees: it can change nothing. @module */
import type { PageTable, PatchTable, SourceTable, WikiLog } from "../store/wiki_store.ts";

/** The reading side of a WikiStore. */
export interface LintedStore {
  readonly sources: Pick<SourceTable, "current" | "byDigest" | "list" | "lines" | "intact">;
  readonly pages: Pick<PageTable, "list" | "get" | "text" | "find" | "citing" | "onDisk">;
  readonly patches: Pick<PatchTable, "list">;
  readonly log: Pick<WikiLog, "verify">;
}
