/**
 * A log as JSON lines, one event with its content a line: stored elsewhere and verified there with
 * the same code as a store. The first line names the format.
 * @module
 */
import * as z from "zod";
import { Fault } from "../../contracts/base/fault.ts";
import { Digest, Millis } from "../../contracts/authority/ids.ts";
import type { Store } from "../../contracts/task/store.ts";
import {
  type Item,
  makeVerifier,
  type ReadItem,
  type VerifyOptions,
  type VerifyReport,
} from "./verifier.ts";
import { privateDigest } from "./private.ts";
import { base64url, tryBase64url, trySealBody } from "./seal.ts";
import { storeItems } from "./verify.ts";

const HEADER = '{"remit":"log","version":1}';
/** Maximum length of a line, characters. */
const MAX_LINE = 256 * 1024 * 1024;

const Line = z.object({
  seq: z.int().min(1),
  task: z.string().max(16),
  n: z.int().min(0),
  kind: z.string().max(32),
  at: Millis,
  hash: Digest,
  body: z.string(),
  /** Salt and bytes of the private part, base64url; absent when there is none or it was erased. */
  content: z.tuple([z.string(), z.string()]).optional(),
}).strict();

function lineOf({ event, content }: Item): string {
  const { seq, task, n, kind, at, hash, body } = event;
  const kept = content.kind === "present"
    ? { content: [base64url(content.salt), base64url(content.bytes)] }
    : {};
  return JSON.stringify({ seq, task, n, kind, at, hash, body, ...kept });
}

/**
 * The lines of a log, without their newlines.
 * @throws Fault `storeCorrupt` at the first event or content that cannot be read.
 */
export async function* exportLog(store: Store): AsyncGenerator<string> {
  yield HEADER;
  for await (const item of storeItems(store)) {
    if ("unreadable" in item) throw new Fault("storeCorrupt", item.why);
    if (item.content.kind === "unreadable") {
      throw new Fault(
        "storeCorrupt",
        `Cannot export log: the content of event ${item.event.seq} cannot be read`,
      );
    }
    yield lineOf(item);
  }
}

/** Parses an exported line; undefined for any other text. */
function tryLine(line: string): Item | undefined {
  if (line.length > MAX_LINE) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (_error) {
    return undefined;
  }
  const parsed = Line.safeParse(value);
  if (!parsed.success) return undefined;
  const { content: [salt, bytes] = [], ...event } = parsed.data;
  const raw = [salt, bytes].map((part) => part === undefined ? undefined : tryBase64url(part));
  const item: Item = raw[0] !== undefined && raw[1] !== undefined
    ? { event, content: { kind: "present", salt: raw[0], bytes: raw[1] } }
    : { event, content: { kind: privateDigest(event.body) === undefined ? "none" : "absent" } };
  // Each event has exactly one text: any other layout, order or escape is a change.
  return lineOf(item) === line ? item : undefined;
}

/** Items of JSON lines, up to the first line that is not one. */
async function* lineItems(
  lines: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<ReadItem> {
  let seq = 0;
  for await (const line of lines) {
    const item = seq === 0 ? undefined : tryLine(line);
    if (seq === 0 ? line !== HEADER : item === undefined) {
      const why = seq === 0
        ? "the first line does not name a log of this version"
        : `line ${seq + 1} is not an event as it was exported`;
      yield { unreadable: Math.max(seq, 1), why };
      return;
    }
    if (item !== undefined) yield item;
    seq++;
  }
  if (seq === 0) yield { unreadable: 1, why: "there is not even a first line" };
}

/** Checks an export offline: {@link verifyLog} for lines. `head` as there. */
export async function verifyLines(
  lines: AsyncIterable<string> | Iterable<string>,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const verifier = makeVerifier(options);
  for await (const item of lineItems(lines)) {
    verifier.feed(item);
    if (verifier.stopped()) break;
  }
  return verifier.end();
}

/**
 * Cuts bytes into lines at each newline; the last may lack one.
 * @throws TypeError for bytes that are not UTF-8, and Fault `tooLarge` for an endless line.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest = "";
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length > MAX_LINE) {
      throw new Fault("tooLarge", `Cannot read lines: one is over ${MAX_LINE} characters`);
    }
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}

/** What to check an export against. */
interface ExportOptions {
  /** The kernel's receipt key, raw Ed25519, base64url; absent: the key named in the export. */
  readonly key?: string | undefined;
  /** A head stored elsewhere. */
  readonly head?: Digest | undefined;
}

/** The result of checking an export, and the key that was used. */
interface ExportReport extends VerifyReport {
  readonly key: string;
}

/** Bytes of a file that are decoded together. */
const PIECE = 1 << 20;

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

/** The key named by the first seal. Throws `invalidInput`. */
async function namedKey(bytes: Uint8Array): Promise<string> {
  for await (const line of readLines(pieces(bytes))) {
    const event = tryLine(line)?.event;
    const key = event?.kind === "seal" ? trySealBody(event.body)?.key : undefined;
    if (key !== undefined) return key;
  }
  throw new Fault("invalidInput", "Cannot verify the export: no seal in it names a key");
}

/**
 * Checks the bytes of an export: every chain, seal and content, like `verifyLog` for a store.
 * @throws Fault `invalidInput` if the bytes are no export or the key is invalid.
 */
export async function verifyExport(
  bytes: Uint8Array,
  { key, head }: ExportOptions,
): Promise<ExportReport> {
  if (bytes.length === 0) {
    throw new Fault("invalidInput", "Cannot verify the export: the file is empty");
  }
  try {
    const publicKey = key ?? await namedKey(bytes);
    const report = await verifyLines(readLines(pieces(bytes)), {
      publicKey,
      ...(head === undefined ? {} : { head }),
    });
    return { ...report, key: publicKey };
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new Fault("invalidInput", "Cannot verify the export: it is not UTF-8 text", { cause });
  }
}
