/**
 * All ops of the wiki's process, by their names in contracts/wire/wire_wiki.ts.
 *
 * @example
 * ```ts
 * import { OPS } from "./mod.ts";
 * Object.keys(OPS).includes("query"); // true
 * ```
 * @module
 */
import { CHECK_OPS } from "../tools/check_draft.ts";
import { ANSWER_OPS, INGEST_OPS, WORK_OPS } from "./ingest_ops.ts";
import { EXPORT_OPS, LINT_OPS } from "./lint_ops.ts";
import type { Op } from "./op.ts";
import { PATCH_OPS } from "./patch_ops.ts";
import { QUERY_OPS, READ_OPS } from "./read_ops.ts";
import { RECORD_OPS } from "./record_ops.ts";

export type { OpenWiki, WikiPowers } from "./op.ts";

/** All ops but `open`, which creates the OpenWiki. */
export const OPS: Readonly<Record<string, Op>> = Object.freeze({
  ...INGEST_OPS,
  ...QUERY_OPS,
  ...READ_OPS,
  ...PATCH_OPS,
  ...WORK_OPS,
  ...ANSWER_OPS,
  ...LINT_OPS,
  ...RECORD_OPS,
  ...EXPORT_OPS,
  ...CHECK_OPS,
});
