/** Validates patches before review, and stores them. Used by apply.ts and table.ts. @module */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { Fault } from "../../../contracts/base/mod.ts";
import {
  PageChange,
  type PageConflict,
  type PageName,
  type PagePatch,
  type PatchName,
} from "../../../contracts/memory/mod.ts";
import { colourNumber, type Inside, labelNumber, trustOf } from "../inside.ts";
import {
  citationKey,
  type KnownSources,
  type LookedUp,
  lookUpCitations,
  makeKnownSources,
} from "../page/citations.ts";
import { pageRow, versionText } from "../page/versions.ts";
import { bytes, int, json, type Row, text } from "../sqlite/database.ts";

/** Changes per patch. */
const MAX_CHANGES = 20_000;
/** UTF-8 bytes of a page name, leaving room for `.md` and the mark of a temporary file. */
const NAME_BYTES = 200;

function bad(why: string): Fault {
  return new Fault("invalidInput", `Cannot propose a patch: ${why}`);
}

/** Parses changes. @throws Fault `invalidInput` naming page and footnote, `tooLarge` */
export function checkChanges(
  inside: Inside,
  changes: readonly PageChange[],
): readonly PageChange[] {
  if (changes.length === 0) throw bad("it changes nothing");
  if (changes.length > MAX_CHANGES) {
    throw new Fault("tooLarge", `Cannot propose a patch: it has more than ${MAX_CHANGES} changes`);
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

/** Checks that a name is a distinct file name on every system. */
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
 * Resolves a body's citations. All must be valid, except those in the page's previous version.
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

// Rows of the table `patches`.

/** JSON bytes of a patch's changes. */
const PATCH_BYTES = 256 * 1_048_576;
const encoder = new TextEncoder();

/** A patch by id. */
export function patchById({ db }: Inside, id: string): PagePatch | undefined {
  const row = db.get("SELECT * FROM patches WHERE id = ?", id);
  return row === undefined ? undefined : patchOf(row);
}

/** Parses a stored patch. */
export function patchOf(row: Row): PagePatch {
  const changes = new TextDecoder().decode(
    inflateRawSync(bytes(row, "changes"), { maxOutputLength: PATCH_BYTES }),
  );
  return Object.freeze({
    id: text(row, "id") as PatchName,
    author: text(row, "author"),
    reason: text(row, "reason"),
    changes: JSON.parse(changes) as readonly PageChange[],
    ...trustOf(row),
    state: text(row, "state") as PagePatch["state"],
    createdAt: int(row, "created_at"),
    ...(row["decided"] === null
      ? {}
      : { decided: json(row, "decided") as NonNullable<PagePatch["decided"]> }),
    ...(row["conflicts"] === null
      ? {}
      : { conflicts: json(row, "conflicts") as readonly PageConflict[] }),
  });
}

/** Stores a proposed patch. */
export function putPatch({ db }: Inside, patch: PagePatch): void {
  const changes = encoder.encode(JSON.stringify(patch.changes));
  db.insert(
    "INSERT INTO patches(id, author, reason, changes, colour, label, state, created_at) VALUES",
    [[
      patch.id,
      patch.author,
      patch.reason,
      deflateRawSync(changes, { level: 3 }),
      colourNumber(patch.colour),
      labelNumber(patch.label),
      patch.state,
      patch.createdAt,
    ]],
  );
}

/** Stores the decision on a patch. */
export function decidePatch(
  { db, now }: Inside,
  id: string,
  decision: {
    readonly state: PagePatch["state"];
    readonly by: string;
    readonly conflicts?: readonly PageConflict[];
  },
): void {
  db.run(
    "UPDATE patches SET state = ?, decided = ?, conflicts = ? WHERE id = ?",
    decision.state,
    JSON.stringify({ by: decision.by, at: now() }),
    decision.conflicts === undefined ? null : JSON.stringify(decision.conflicts),
    id,
  );
}

/** The page of a change. */
export function pageOfChange(change: PageChange): PageName {
  return change.kind === "write" ? change.draft.name : change.name;
}
