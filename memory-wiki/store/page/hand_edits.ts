/** Imports pages changed, created or removed outside the store. @module */
import { Colour, type Digest, Label } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import {
  Confidence,
  type Page,
  Page as PageSchema,
  PageKind,
  PageName,
} from "../../../contracts/memory/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import type { ReadPage } from "../../markdown/page_text.ts";
import { countLines } from "../files/text_lines.ts";
import { STAGED } from "../files/wiki_folder.ts";
import { type Inside, recordedTrust } from "../inside.ts";
import { settle, settlePages } from "../settle.ts";
import { spreadTrust } from "../spread_trust.ts";
import { text } from "../sqlite/database.ts";
import { handTrust, type Trust } from "../trust_rules.ts";
import { appendEvent } from "../wiki_log.ts";
import type { PageTable } from "../wiki_store.ts";
import { lookUpCitations } from "./citations.ts";
import {
  deleteVersion,
  PAGE_BYTES,
  pageFile,
  type PageRow,
  pageRow,
  putVersion,
} from "./versions.ts";

/** Milliseconds after a file's time stamp within which it may change again without a new one. */
const GRAIN_MS = 2_000;
const HAND = "hand";

type Synced = Awaited<ReturnType<PageTable["sync"]>>;
type Changed = { readonly name: PageName; readonly bytes: Uint8Array; readonly mark: string };

/** Searches `pages/` for hand edits and imports them. */
export function takeHandEdits(inside: Inside): Synced {
  const { db, folder } = inside;
  settle(inside);
  // Files whose place, size and times are unchanged are not read.
  const marks = new Map(
    db.all("SELECT name, file_mark FROM pages WHERE deleted = 0").map((row) =>
      [text(row, "name"), text(row, "file_mark")] as const
    ),
  );
  const problems: { file: string; why: string }[] = [];
  const seen = new Set<string>();
  const looked: PageName[] = [];
  for (const [file, { kind, mark }] of folder.lookAll("pages")) {
    if (file.startsWith(STAGED) || (!file.endsWith(".md") && kind === "file")) continue;
    if (file.startsWith(".") && kind === "folder") continue;
    // Skips validating the name of an unchanged page, which takes half the time for thousands.
    if (kind === "file" && file.endsWith(".md") && marks.get(file.slice(0, -3)) === mark) {
      seen.add(file.slice(0, -3));
      continue;
    }
    const name = PageName.safeParse(file.slice(0, -3));
    const why = kind === "link"
      ? "it is a symbolic link; nothing was followed"
      : kind !== "file"
      ? "only files directly in pages/ are read"
      : !name.success || file.normalize("NFC") !== file
      ? "its name is no page name: letters, digits and -"
      : undefined;
    if (name.success) seen.add(name.data);
    if (why !== undefined || !name.success) {
      problems.push({ file: `pages/${file}`, why: why ?? "" });
    } else if (marks.get(name.data) !== mark) {
      looked.push(name.data);
    }
  }
  const gone = [...marks.keys()].filter((name) => !seen.has(name)).map((name) =>
    PageName.parse(name)
  );
  if (looked.length === 0 && gone.length === 0) return { taken: [], removed: [], problems };
  const done = db.transaction("take in hand edits", () => {
    // INVARIANT: a patch that another process applied but did not write yet is no hand edit.
    settlePages(inside);
    const taken = looked.filter((name) => takeFile(inside, name, problems));
    return { taken, removed: gone.filter((name) => takeRemoval(inside, name)) };
  });
  settle(inside);
  return { ...done, problems };
}

/** Imports a file if its bytes differ from the page's. Within a transaction. */
function takeFile(
  inside: Inside,
  name: PageName,
  problems: { file: string; why: string }[],
): boolean {
  const { db, folder, now } = inside;
  const file = pageFile(name);
  try {
    const found = folder.expect(file);
    const bytes = folder.read(file, PAGE_BYTES);
    if (found === undefined || bytes === undefined) return false;
    const settled = found.changedAt + GRAIN_MS < now() && folder.look(file)?.mark === found.mark;
    const mark = settled ? found.mark : "";
    const row = pageRow(inside, name);
    if (row !== undefined && !row.deleted && row.page.digest === sha256Hex(bytes)) {
      if (row.fileMark !== mark) {
        db.run("UPDATE pages SET file_mark = ? WHERE name = ?", mark, name);
      }
      return false;
    }
    takeVersion(inside, row, { name, bytes, mark });
    return true;
  } catch (error) {
    const harmless = ["tooLarge", "refused", "invalidInput"];
    if (!(error instanceof Fault) || !harmless.includes(error.code)) throw error;
    problems.push({ file, why: error.message });
    return false;
  }
}

function takeVersion(
  inside: Inside,
  row: PageRow | undefined,
  { name, bytes, mark }: Changed,
): void {
  const { db, text: { readPage }, now } = inside;
  const whole = decode(bytes, name);
  const reading = readPage(whole);
  const { problems } = reading.front;
  if (problems.length > 0) {
    throw new Fault("invalidInput", `Cannot take in "${pageFile(name)}": ${problems.join("; ")}`);
  }
  const found = lookUpCitations(inside, reading.citations);
  const digest = sha256Hex(bytes);
  const before = row?.page;
  const trust = handTrust({
    cited: found.cited,
    before,
    shown: before === undefined ? shownTrust(reading) : {},
    recorded: recordedTrust(db, digest),
  });
  const page = handPage(
    { name, before, reading, digest, bytes, trust, sources: found.sources },
    now(),
  );
  spreadTrust(inside, digest, trust);
  putVersion(inside, { page, text: whole, reading, found, fileMark: mark });
  appendEvent(inside, {
    kind: "page",
    by: HAND,
    text: `${name} was ${
      before === undefined ? "made" : "changed"
    } by hand: version ${page.version}`,
  });
}

function handPage(
  from: {
    readonly name: PageName;
    readonly before: Page | undefined;
    readonly reading: ReadPage;
    readonly digest: Digest;
    readonly bytes: Uint8Array;
    readonly trust: Pick<Page, "colour" | "label">;
    readonly sources: readonly Digest[];
  },
  at: number,
): Page {
  const { name, before, reading, digest, bytes, trust, sources } = from;
  const { front, headings } = reading;
  const title = front.title ?? before?.title ?? headings[0]?.text ?? name;
  return PageSchema.parse({
    name,
    kind: PageKind.safeParse(front.kind).data ?? before?.kind ?? "concept",
    title: title.trim().slice(0, 256).toWellFormed() || name,
    aliases: front.aliases.filter((alias) => alias !== "" && alias.length <= 256).slice(0, 64),
    version: (before?.version ?? 0) + 1,
    digest,
    bytes: bytes.length,
    lines: countLines(bytes),
    ...trust,
    confidence: Confidence.safeParse(front.confidence).data ?? before?.confidence ?? "medium",
    sources: sources.slice(0, 10_000),
    author: HAND,
    freshAt: before?.freshAt ?? at,
    createdAt: before?.createdAt ?? at,
    updatedAt: at,
  });
}

function decode(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Fault("invalidInput", `Cannot take in "${pageFile(name)}": it is not UTF-8`, {
      cause: error,
    });
  }
}

function takeRemoval(inside: Inside, name: PageName): boolean {
  const row = pageRow(inside, name);
  if (row === undefined || row.deleted || inside.folder.look(pageFile(name)) !== undefined) {
    return false;
  }
  deleteVersion(inside, row.page, { author: HAND, at: inside.now() });
  appendEvent(inside, { kind: "page", by: HAND, text: `${name} was removed by hand` });
  return true;
}

// Colour and label in a page's front matter, which can only lower the trust.

/** The shown colour and label, if valid. */
function shownTrust({ front }: ReadPage): Partial<Trust> {
  const colour = Colour.safeParse(front.colour);
  const label = Label.safeParse(front.label);
  return {
    ...(colour.success ? { colour: colour.data } : {}),
    ...(label.success ? { label: label.data } : {}),
  };
}
