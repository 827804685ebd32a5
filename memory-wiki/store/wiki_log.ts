/** The append-only record of the wiki: a hash chain in the database, and log.md, its picture. @module */
import type { Digest } from "../../contracts/authority/mod.ts";
import type { WikiEvent } from "../../contracts/memory/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { displayText } from "../../text/mod.ts";
import { type Inside, meta, setMeta } from "./inside.ts";
import { int, type Row, text } from "./sqlite/database.ts";

/** The picture's name. */
export const LOG_FILE = "log.md";
/** Events of one reading. */
const PAGE = 1_000;
/** A picture above this is not read. */
const MAX_BYTES = 1_000_000_000;
const encoder = new TextEncoder();

function eventOf(row: Row): WikiEvent {
  return Object.freeze({
    n: int(row, "n"),
    at: int(row, "at"),
    kind: text(row, "kind"),
    by: text(row, "by"),
    text: text(row, "text"),
    hash: text(row, "hash") as Digest,
  });
}

/** Adds one step. Within a transaction or as one; log.md follows with {@link writeLogPicture}. */
export function appendEvent(
  { db, now }: Inside,
  event: Pick<WikiEvent, "kind" | "by" | "text">,
): WikiEvent {
  return db.transaction("write to the wiki's log", () => {
    const last = db.get("SELECT n, hash FROM log ORDER BY n DESC LIMIT 1");
    const previous = last === undefined ? FIRST_HASH : text(last, "hash") as Digest;
    const plain = {
      n: last === undefined ? 1 : int(last, "n") + 1,
      at: now(),
      kind: oneLine(event.kind),
      by: oneLine(event.by),
      text: oneLine(event.text),
    };
    const hash = hashOf(previous, plain);
    db.insert("INSERT INTO log(n, at, kind, by, text, hash) VALUES", [
      [plain.n, plain.at, plain.kind, plain.by, plain.text, hash],
    ]);
    return Object.freeze({ ...plain, hash });
  });
}

/** Steps after `afterN`, oldest first. */
export function listEvents({ db }: Inside, afterN: number, limit: number): readonly WikiEvent[] {
  return db.all("SELECT * FROM log WHERE n > ? ORDER BY n LIMIT ?", afterN, limit).map(eventOf);
}

function* eachEvent(inside: Inside, afterN: number): Generator<WikiEvent> {
  for (let after = afterN;;) {
    const events = listEvents(inside, after, PAGE);
    yield* events;
    const last = events.at(-1);
    if (last === undefined) return;
    after = last.n;
  }
}

/** The whole picture as it should be. */
function wholePicture(inside: Inside): Uint8Array {
  let whole = LOG_HEAD;
  for (const event of eachEvent(inside, 0)) whole += shownLine(event);
  return encoder.encode(whole);
}

/** Whether log.md lacks steps of the record, or is not as long as it was left. */
export function logPictureLags(inside: Inside): boolean {
  const { db, folder } = inside;
  const last = db.get("SELECT max(n) AS n FROM log")?.["n"] ?? 0;
  const left = meta(db, "logBytes");
  return left === 0 || last !== meta(db, "logged") || folder.look(LOG_FILE)?.bytes !== left;
}

/**
 * Brings log.md up to the record. One that a crash cut is made whole; one that was altered is added to and
 * otherwise left as it is. Gives what it repaired. Within a transaction.
 */
export function writeLogPicture(inside: Inside): string | undefined {
  const { db, folder } = inside;
  const there = folder.expect(LOG_FILE)?.bytes ?? 0;
  const logged = meta(db, "logged");
  const left = meta(db, "logBytes");
  let add: Uint8Array;
  let repaired: string | undefined;
  if (there === left && left > 0) {
    let lines = "";
    for (const event of eachEvent(inside, logged)) lines += shownLine(event);
    add = encoder.encode(lines);
  } else {
    const whole = wholePicture(inside);
    const found = folder.read(LOG_FILE, MAX_BYTES) ?? new Uint8Array(0);
    if (isBeginning(found, whole)) {
      add = whole.subarray(found.length);
      if (left > 0) repaired = "log.md had been cut; it was completed from the record";
    } else {
      let lines = "";
      for (const event of eachEvent(inside, logged)) lines += shownLine(event);
      const gap = found.at(-1) === 10 || lines === "" ? "" : "\n";
      add = encoder.encode(gap + lines);
    }
  }
  if (add.length > 0) folder.append(LOG_FILE, add);
  setMeta(db, "logged", Number(db.get("SELECT max(n) AS n FROM log")?.["n"] ?? 0));
  setMeta(db, "logBytes", there + add.length);
  return repaired;
}

function isBeginning(part: Uint8Array, whole: Uint8Array): boolean {
  return part.length <= whole.length && part.every((byte, at) => byte === whole[at]);
}

/** What is wrong with the chain or log.md, a sentence; undefined when both hold. */
export function verifyLog(inside: Inside): string | undefined {
  let previous = FIRST_HASH;
  let n = 0;
  for (const event of eachEvent(inside, 0)) {
    n += 1;
    if (event.n !== n) return `The record has no step ${n}: it was altered.`;
    if (hashOf(previous, event) !== event.hash) {
      return `Step ${n} of the record does not fit its hash: it was altered.`;
    }
    previous = event.hash;
  }
  const whole = wholePicture(inside);
  const found = inside.folder.read(LOG_FILE, MAX_BYTES) ?? new Uint8Array(0);
  if (found.length === whole.length && isBeginning(found, whole)) return undefined;
  let line = 1;
  const end = Math.min(found.length, whole.length);
  for (let at = 0; at < end && found[at] === whole[at]; at++) if (found[at] === 10) line += 1;
  return `log.md differs from the record at line ${line}: it was altered.`;
}

// One step of the wiki's record as a line of log.md, and the chain over these lines.

/** How log.md begins. */
const LOG_HEAD =
  "# Log\n\nWritten by Remit, one line for each step; `remit wiki log --verify` checks it.\n\n";
/** What comes before the first line's hash. */
const FIRST_HASH = sha256Hex("remit.wiki-log.v1");
/** Most of an event's text, characters. */
const MAX = 500;

/** One line of plain words: no control characters, no line ends, nothing that Markdown or HTML would act on. */
function oneLine(text: string): string {
  const plain = displayText(text.replace(/[\r\n\t\u2028\u2029]+/gu, " ")).replace(
    /[`<>[\]|*]/g,
    "'",
  );
  return plain.length > MAX ? `${plain.slice(0, MAX - 1).toWellFormed()}…` : plain;
}

/** An event as its line, without hash. */
function lineOf({ n, at, kind, by, text }: Omit<WikiEvent, "hash">): string {
  return `- ${n} ${new Date(at).toISOString()} **${kind}** ${by}: ${text}`;
}

/** What the chain says after `previous` and this line. */
function hashOf(previous: Digest, event: Omit<WikiEvent, "hash">): Digest {
  return sha256Hex(previous, "\n", lineOf(event));
}

/** An event as log.md shows it, with its line feed. */
function shownLine(event: WikiEvent): string {
  return `${lineOf(event)} \`${event.hash.slice(0, 12)}\`\n`;
}
