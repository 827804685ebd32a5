/**
 * Applies a patch completely or not at all. New files are staged; one transaction checks versions and files,
 * writes the versions and records the renames, which follow (settle.ts), also after a crash. Used by
 * table.ts.
 * @module
 */
import type { Digest } from "../../../contracts/authority/mod.ts";
import {
  type Page,
  type PageChange,
  type PageConflict,
  PageName,
  type PagePatch,
} from "../../../contracts/memory/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import type { ReadPage } from "../../markdown/page_text.ts";
import { digestOfFile } from "../files/raw_keep.ts";
import { countLines } from "../files/text_lines.ts";
import { type Inside, meta } from "../inside.ts";
import { type KnownSources, type LookedUp, makeKnownSources } from "../page/citations.ts";
import { deleteVersion, pageFile, pageRow, putVersion, versionText } from "../page/versions.ts";
import { putPending } from "../settle.ts";
import { spreadTrust } from "../spread_trust.ts";
import { patchedTrust } from "../trust_rules.ts";
import { appendEvent } from "../wiki_log.ts";
import { checkCitations, decidePatch, pageOfChange } from "./check.ts";

const NO_DIGEST = "0".repeat(64) as Digest;
const encoder = new TextEncoder();
/** Pages named in a log line. */
const MAX_NAMED = 8;

/** Conflicts of a patch; empty if none. Within a transaction. */
function conflictsOf(inside: Inside, patch: PagePatch): readonly PageConflict[] {
  return patch.changes.flatMap((change): readonly PageConflict[] => {
    const page = pageOfChange(change);
    const row = pageRow(inside, page);
    const have = row === undefined || row.deleted ? undefined : row.page;
    const versions = { page, expected: change.base, found: have?.version ?? 0 };
    if (versions.found !== change.base) {
      return [{ ...versions, by: row?.page.author ?? "nobody", why: "version" }];
    }
    const onDisk = digestOfFile(inside.folder, pageFile(page));
    return onDisk === have?.digest ? [] : [{ ...versions, by: "hand", why: "handEdit" }];
  });
}

/** A page as the patch makes it from the current state. */
export interface Drafted {
  readonly page: Page;
  readonly whole: string;
  readonly bytes: Uint8Array;
  readonly reading: ReadPage;
  readonly found: LookedUp;
  /** Digest of the file to replace. */
  readonly before: Digest | undefined;
}

/** Result of {@link stagePatch}, made before the lock is taken. */
export interface Staged {
  /** Drafts are valid while the wiki has this generation. */
  readonly generation: number;
  readonly drafts: ReadonlyMap<PageName, Drafted>;
  /** Staged files by digest. */
  readonly files: Map<string, string>;
}

/**
 * Writes the files that `patch` will probably need, concurrently and without the lock.
 * @throws Fault `storeFull`, `refused`, `invalidInput`
 */
export async function stagePatch(
  inside: Inside,
  patch: PagePatch,
  how: { readonly by: string; readonly at: number },
): Promise<Staged> {
  const generation = meta(inside.db, "generation");
  const drafts = new Map<PageName, Drafted>();
  const known = makeKnownSources();
  if (conflictsOf(inside, patch).length === 0) {
    for (const change of patch.changes) {
      if (change.kind === "delete") continue;
      drafts.set(change.draft.name, draftPage(inside, patch, change, { at: how.at, known }));
    }
  }
  const made = [...drafts.values()];
  const staged = await inside.folder.stageAll(
    made.map(({ page, bytes }) => ({ path: pageFile(page.name), bytes })),
  );
  const files = new Map(made.map(({ page }, index) => [page.digest, staged[index] ?? ""]));
  return { generation, drafts, files };
}

/**
 * Applies `patch` with time `at`, or records its conflicts. Files staged in addition are added to `staged`.
 * Within a transaction.
 */
export function applyPatch(
  inside: Inside,
  patch: PagePatch,
  how: { readonly by: string; readonly at: number; readonly staged: Staged },
): void {
  const { by, at, staged } = how;
  const conflicts = conflictsOf(inside, patch);
  if (conflicts.length > 0) {
    decidePatch(inside, patch.id, { state: "conflict", by, conflicts });
    return;
  }
  // Another process may have changed what the drafts depend on.
  const holds = meta(inside.db, "generation") === staged.generation;
  const known = makeKnownSources();
  // In the order of the database's trees: random access to thousands of pages would exceed its cache.
  const ordered = patch.changes.toSorted((a, b) => pageOfChange(a) < pageOfChange(b) ? -1 : 1);
  for (const change of ordered) {
    if (change.kind === "delete") {
      removePage(inside, patch, change);
      continue;
    }
    const draft = holds ? staged.drafts.get(change.draft.name) : undefined;
    writePage(
      inside,
      patch,
      draft ?? draftPage(inside, patch, change, { at, known }),
      staged.files,
    );
  }
  inside.folder.syncFolder("pages");
  decidePatch(inside, patch.id, { state: "applied", by });
  const names = patch.changes.map(pageOfChange);
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  const shown = names.slice(0, MAX_NAMED).join(", ") + more;
  const text = `${patch.id} of ${patch.author} was applied (${shown}): ${patch.reason}`;
  appendEvent(inside, { kind: "patch", by, text });
}

function draftPage(
  inside: Inside,
  patch: PagePatch,
  change: Extract<PageChange, { kind: "write" }>,
  { at, known }: { readonly at: number; readonly known: KnownSources },
): Drafted {
  const { text: { readPage, writePage } } = inside;
  const { body, others, ...draft } = change.draft;
  const row = pageRow(inside, draft.name);
  const live = row === undefined || row.deleted ? undefined : row.page;
  const found = checkCitations(inside, draft.name, body, known);
  const shown: Page = {
    ...draft,
    version: (row?.page.version ?? 0) + 1,
    digest: NO_DIGEST,
    bytes: 0,
    lines: 0,
    ...patchedTrust({ patch, cited: found.cited, before: row?.page, fresh: change.fresh }),
    sources: [...found.sources],
    author: patch.author,
    freshAt: at,
    createdAt: live?.createdAt ?? at,
    updatedAt: at,
  };
  const whole = writePage(shown, body.toWellFormed(), others ?? othersBefore(inside, live, change));
  const bytes = encoder.encode(whole);
  const page = {
    ...shown,
    digest: sha256Hex(bytes),
    bytes: bytes.length,
    lines: countLines(bytes),
  };
  return { page, whole, bytes, reading: readPage(whole), found, before: live?.digest };
}

/** Other programs' keys remain, except on a page made from its sources alone. */
function othersBefore(
  inside: Inside,
  live: Page | undefined,
  { fresh }: Extract<PageChange, { kind: "write" }>,
): readonly string[] {
  if (live === undefined || fresh) return [];
  const before = versionText(inside, live.name, live.version);
  return before === undefined ? [] : inside.text.readPage(before).front.others;
}

function writePage(
  inside: Inside,
  patch: PagePatch,
  { page, whole, bytes, reading, found, before }: Drafted,
  staged: Map<string, string>,
): void {
  const file = staged.get(page.digest) ?? inside.folder.stage(pageFile(page.name), bytes);
  staged.set(page.digest, file);
  spreadTrust(inside, page.digest, page);
  putVersion(inside, { page, text: whole, reading, found, patch: patch.id, fileMark: "" });
  putPending(inside, {
    name: page.name,
    version: page.version,
    digest: page.digest,
    ...(before === undefined ? {} : { before }),
    staged: file,
  });
}

function removePage(
  inside: Inside,
  patch: PagePatch,
  change: Extract<PageChange, { kind: "delete" }>,
): void {
  const row = pageRow(inside, PageName.parse(change.name));
  if (row === undefined || row.deleted) throw new TypeError("Cannot delete a page: it was checked");
  const at = inside.now();
  deleteVersion(inside, row.page, { author: patch.author, at, patch: patch.id });
  putPending(inside, {
    name: change.name,
    version: row.page.version + 1,
    before: row.page.digest,
  });
}
