/** What an opening makes good: a crash in the middle of writing, files that are gone, sources that have expired. @module */
import { STAGED, WIKI_FOLDERS } from "./files/wiki_folder.ts";
import { changed, type Inside } from "./inside.ts";
import { settlePages, settlePictures } from "./settle.ts";
import { retire } from "./source/batch.ts";
import { appendEvent } from "./wiki_log.ts";

/** A temporary file that nobody can still be writing, milliseconds. */
const OLD_MS = 3_600_000;

/** Finishes and repairs; gives a sentence for each thing. */
export function repair(inside: Inside): readonly string[] {
  const { db } = inside;
  const told = [...settlePages(inside)];
  // Everything that follows needs the lock, and mostly does nothing.
  db.transaction("repair the wiki", () => {
    for (const part of WIKI_FOLDERS) removeOld(inside, part);
    const expired = expire(inside);
    if (expired > 0) {
      const text = `${expired} sources have expired and are not found any more`;
      appendEvent(inside, { kind: "ingest", by: "remit", text });
    }
  });
  return [...told, ...settlePictures(inside)];
}

function removeOld({ folder, now }: Inside, part: "raw" | "pages"): void {
  for (const { name, kind } of folder.list(part)) {
    if (kind !== "file" || !name.startsWith(STAGED)) continue;
    const found = folder.look(`${part}/${name}`);
    if (found !== undefined && found.changedAt < now() - OLD_MS) folder.remove(`${part}/${name}`);
  }
}

function expire(inside: Inside): number {
  const { db, now } = inside;
  const rows = db.all("SELECT * FROM sources WHERE expires_at <= ? AND state = 0", now());
  for (const row of rows) retire(inside, row, "removed");
  if (rows.length > 0) changed(db, "pages");
  return rows.length;
}
