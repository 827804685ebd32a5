/** As much of the store as the export sees: it reads, and notes what left. @module */
import type { LintedStore } from "../lint/linted_store.ts";
import type { SourceTable } from "../store/wiki_store.ts";

/** The reading side of a WikiStore, and where exported bytes are recorded. */
export interface ExportedStore {
  readonly sources:
    & Pick<LintedStore["sources"], "byDigest" | "list" | "lines">
    & Pick<SourceTable, "recordExport">;
  readonly pages: Pick<LintedStore["pages"], "list" | "get" | "text" | "find">;
}
