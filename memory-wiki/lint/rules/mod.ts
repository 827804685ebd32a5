/**
 * Every rule of the lint, by name.
 *
 * @example
 * ```ts
 * import { CHECKS } from "./mod.ts";
 * if (!("orphanPage" in CHECKS)) throw new Error("a rule without a check");
 * ```
 * @module
 */
import type { LintRule } from "../../../contracts/mod.ts";
import type { MakeCheck } from "../rule.ts";
import { checkAlteredSource } from "./altered_source.ts";
import { checkBrokenCitation } from "./broken_citation.ts";
import { checkBrokenLink } from "./broken_link.ts";
import { checkChangedSource } from "./changed_source.ts";
import { checkContradiction } from "./contradiction.ts";
import { checkDuplicatePage } from "./duplicate_page.ts";
import { checkColourDrift, checkLabelDrift } from "./drift.ts";
import { checkExpiredSource } from "./expired_source.ts";
import { checkFrontMatter } from "./front_matter.ts";
import { checkHandEdit } from "./hand_edit.ts";
import { checkLogAltered } from "./log_altered.ts";
import { checkMisquote } from "./misquote.ts";
import { checkLongPage } from "./long_page.ts";
import { checkMissingCitation } from "./missing_citation.ts";
import { checkOrphanPage } from "./orphan_page.ts";
import { checkStalePage } from "./stale_page.ts";
import { checkUntrustedClaim } from "./untrusted_claim.ts";

/** Who checks what. */
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
