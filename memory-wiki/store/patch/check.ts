/** What a patch must be before anyone sees it. @module */
import { Fault, PageChange, type PageName } from "../../../contracts/mod.ts";
import { type Inside } from "../inside.ts";
import {
  citationKey,
  type KnownSources,
  type LookedUp,
  lookUpCitations,
  makeKnownSources,
} from "../page/citations.ts";
import { pageRow, versionText } from "../page/versions.ts";
import { pageOfChange } from "./rows.ts";
import { text } from "../sqlite/rows.ts";

/** Most changes of one patch. */
const MOST_CHANGES = 20_000;
/** Longest name of a file without `.md` and a temporary mark, bytes. */
const NAME_BYTES = 200;

function bad(why: string): Fault {
  return new Fault("invalidInput", `Cannot propose a patch: ${why}`);
}

/** Changes that may be proposed, parsed. @throws Fault `invalidInput` naming page and footnote, `tooLarge`. */
export function checkChanges(
  inside: Inside,
  changes: readonly PageChange[],
): readonly PageChange[] {
  if (changes.length === 0) throw bad("it changes nothing");
  if (changes.length > MOST_CHANGES) {
    throw new Fault("tooLarge", `Cannot propose a patch: it has more than ${MOST_CHANGES} changes`);
  }
  const seen = new Set<string>();
  const known = makeKnownSources();
  return changes.map((change) => {
    const parsed = PageChange.safeParse(change);
    if (!parsed.success) throw bad(parsed.error.issues[0]?.message ?? "a change is no change");
    const name = pageOfChange(parsed.data);
    if (seen.has(name.toLowerCase())) throw bad(`it changes page "${name}" twice`);
    seen.add(name.toLowerCase());
    if (parsed.data.kind === "write") {
      checkName(inside, name);
      checkCitations(inside, name, parsed.data.draft.body, known);
    }
    return parsed.data;
  });
}

/** A name that is one file on every machine, and no other page's. */
function checkName({ db, text: { linkKey } }: Inside, name: PageName): void {
  if (name.normalize("NFC") !== name) throw bad(`the name "${name}" is not in normal form (NFC)`);
  if (new TextEncoder().encode(name).length > NAME_BYTES) {
    throw bad(`the name "${name}" has more than ${NAME_BYTES} bytes`);
  }
  for (const row of db.all("SELECT page FROM page_names WHERE folded = ?", linkKey(name))) {
    const other = text(row, "page");
    if (other !== name && other.toLowerCase() === name.toLowerCase()) {
      throw bad(`page "${name}" differs from page "${other}" only in upper and lower case`);
    }
  }
}

/**
 * Looks up what a body cites. Every citation must hold, except what the page said before.
 * @throws Fault `invalidInput` naming page and footnote
 */
export function checkCitations(
  inside: Inside,
  name: PageName,
  body: string,
  known: KnownSources,
): LookedUp {
  const { text: { readPage } } = inside;
  const found = lookUpCitations(inside, readPage(body).citations, known);
  if (found.unresolved.length === 0) return found;
  const row = pageRow(inside, name);
  const before = row === undefined || row.deleted
    ? undefined
    : versionText(inside, name, row.page.version);
  const had = new Set(before === undefined ? [] : readPage(before).citations.map(citationKey));
  const first = found.unresolved.find(({ citation }) => !had.has(citationKey(citation)));
  if (first === undefined) return found;
  throw bad(`footnote [^${first.citation.note}] of page "${name}" does not hold: ${first.why}`);
}
