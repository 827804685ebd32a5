/** The append-only log of the wiki: a hash chain in the database, rendered to log.md. @module */
import type { Digest } from "../../contracts/authority/mod.ts";
import type { WikiEvent } from "../../contracts/memory/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { displayText } from "../../text/mod.ts";
import { type Inside, meta, setMeta } from "./inside.ts";
import { int, type Row, text } from "./sqlite/database.ts";

/** File name of the rendering. */
export const LOG_FILE = "log.md";
/** Events per read. */
const PAGE = 1_000;
/** Bytes above which log.md is not read. */
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

/** Appends an event, in its own transaction or a surrounding one; {@link writeLogPicture} updates log.md. */
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

/** Events after `afterN`, oldest first. */
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

/** The complete expected rendering. */
function wholePicture(inside: Inside): Uint8Array {
  let whole = LOG_HEAD;
  for (const event of eachEvent(inside, 0)) whole += shownLine(event);
  return encoder.encode(whole);
}

/** Whether log.md is outdated, or its size changed. */
export function logPictureLags(inside: Inside): boolean {
  const { db, folder } = inside;
  const last = db.get("SELECT max(n) AS n FROM log")?.["n"] ?? 0;
  const left = meta(db, "logBytes");
  return left === 0 || last !== meta(db, "logged") || folder.look(LOG_FILE)?.bytes !== left;
}

/**
 * Updates log.md. A truncated file is completed; an altered one is appended to and otherwise left. Returns
 * the repair. Within a transaction.
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

/** Whether `whole` begins with `part`. */
export function isBeginning(part: Uint8Array, whole: Uint8Array): boolean {
  return part.length <= whole.length && part.every((byte, at) => byte === whole[at]);
}

/** An inconsistency of the chain or log.md, as a sentence; undefined if both are intact. */
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

// Events as lines of log.md, and the hash chain over these lines.

/** First lines of log.md. */
const LOG_HEAD =
  "# Log\n\nWritten by Remit, one line for each step; `remit wiki log --verify` checks it.\n\n";
/** Predecessor of the first event's hash. */
const FIRST_HASH = sha256Hex("remit.wiki-log.v1");
/** Characters of an event's text. */
const MAX_TEXT = 500;

/** One line without control characters and without Markdown or HTML syntax. */
function oneLine(text: string): string {
  const plain = displayText(text.replace(/[\r\n\t\u2028\u2029]+/gu, " ")).replace(
    /[`<>[\]|*]/g,
    "'",
  );
  return plain.length > MAX_TEXT ? `${plain.slice(0, MAX_TEXT - 1).toWellFormed()}…` : plain;
}

/** The line of an event, without hash. */
function lineOf({ n, at, kind, by, text }: Omit<WikiEvent, "hash">): string {
  return `- ${n} ${new Date(at).toISOString()} **${kind}** ${by}: ${text}`;
}

/** The chained hash of an event after `previous`. */
function hashOf(previous: Digest, event: Omit<WikiEvent, "hash">): Digest {
  return sha256Hex(previous, "\n", lineOf(event));
}

/** The line of an event in log.md. */
function shownLine(event: WikiEvent): string {
  return `${lineOf(event)} \`${event.hash.slice(0, 12)}\`\n`;
}
