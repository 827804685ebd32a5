/**
 * All rules of the lint by name.
 *
 * @example
 * ```ts
 * import { CHECKS } from "./mod.ts";
 * if (!("orphanPage" in CHECKS)) throw new Error("a rule without a check");
 * ```
 * @module
 */
import type { LintRule } from "../../../contracts/memory/mod.ts";
import type { MakeCheck } from "../rule.ts";
import {
  checkAlteredSource,
  checkChangedSource,
  checkExpiredSource,
  checkStalePage,
  checkUntrustedClaim,
} from "./source_rules.ts";
import { checkBrokenCitation, checkMisquote, checkMissingCitation } from "./citation_rules.ts";
import { checkContradiction } from "./contradiction.ts";
import {
  checkColourDrift,
  checkHandEdit,
  checkLabelDrift,
  checkLogAltered,
} from "./record_rules.ts";
import {
  checkBrokenLink,
  checkDuplicatePage,
  checkFrontMatter,
  checkLongPage,
  checkOrphanPage,
} from "./page_rules.ts";

/** The check of each rule. */
export const CHECKS: Readonly<Record<LintRule, MakeCheck>> = Object.freeze({
  missingCitation: checkMissingCitation,
  brokenCitation: checkBrokenCitation,
  changedSource: checkChangedSource,
  alteredSource: checkAlteredSource,
  stalePage: checkStalePage,
  orphanPage: checkOrphanPage,
  brokenLink: checkBrokenLink,
  duplicatePage: checkDuplicatePage,
  misquote: checkMisquote,
  contradiction: checkContradiction,
  untrustedClaim: checkUntrustedClaim,
  labelDrift: checkLabelDrift,
  colourDrift: checkColourDrift,
  longPage: checkLongPage,
  frontMatter: checkFrontMatter,
  handEdit: checkHandEdit,
  expiredSource: checkExpiredSource,
  logAltered: checkLogAltered,
});
