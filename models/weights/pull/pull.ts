/** Pulls a model of the catalogue into the store: download, verify, pin. @module */
import { join } from "node:path";
import { Fault, isLoopback } from "../../../contracts/base/mod.ts";
import type { CatalogueEntry } from "./catalogue.ts";
import { headerOf, pinnedNow, progress, type WeightsParts } from "../pin.ts";
import {
  findWeights,
  listWeights,
  needSignature,
  putWeights,
  type StoredWeights,
} from "../store.ts";
import type { EntryFiles, HttpAnswer, ModelHttp, OnBytes, WeightsDisk } from "../powers.ts";
import * as z from "zod";

/** Powers for pulling. */
export interface PullParts extends Omit<WeightsParts, "models"> {
  readonly models: { readonly weights: WeightsDisk; readonly http: ModelHttp };
}

const SLACK = 1.25;

/** Adds advice to a fault of the download. */
function withAdvice(error: unknown, { name, url }: CatalogueEntry): unknown {
  if (!(error instanceof Fault)) return error;
  const again = `  once it can be reached: remit model pull ${name}`;
  const without = `  without internet: bring the file from ${url}\n` +
    `  on another way, then: remit model add FILE.gguf --name ${name}`;
  if (error.code === "cancelled") {
    return new Fault(
      "cancelled",
      `Cannot finish pulling "${name}": cancelled; "remit model pull ${name}" goes on from there`,
      { cause: error },
    );
  }
  if (error.code !== "upstream" && error.code !== "notFound") return error;
  return new Fault(
    error.code,
    `Cannot pull "${name}": ${error.message.replace(/^Cannot /, "cannot ")}\n${again}\n${without}`,
    { cause: error },
  );
}

/**
 * Pulls an entry of the catalogue. Afterwards the store has the weights whole and verified, or not at all.
 *
 * @throws Fault `alreadyExists`, `conflict` during another pull of the entry, `refused` for a wrong size, digest or
 * signature, `upstream` or `cancelled` when it broke off (the next pull continues), `notFound`, `storeFull`
 */
export async function pullWeights(
  parts: PullParts,
  entry: CatalogueEntry,
  signal: AbortSignal,
): Promise<StoredWeights> {
  const { disk, models, places } = parts;
  if (findWeights(disk, places, entry.name) !== undefined) {
    throw new Fault(
      "alreadyExists",
      `Cannot pull "${entry.name}": the store has weights of that name; ` +
        `check them with "remit model verify ${entry.name}"`,
    );
  }
  const { sha256, signature } = entry;
  if (sha256 !== undefined && entry.bytes !== undefined) {
    needSignature(entry.name, { sha256, bytes: entry.bytes, signature }, parts.modelKeys);
  }
  const partial = join(places.models, `.partial-${entry.name}`);
  const release = models.weights.hold(`${partial}.lock`);
  if (release === undefined) {
    throw new Fault(
      "conflict",
      `Cannot pull "${entry.name}": another pull of it is under way; wait for it or end it`,
    );
  }
  try {
    const bytes = await fetched(parts, entry, { partial, signal });
    return await takeIn(parts, entry, { partial, bytes });
  } finally {
    release();
  }
}

async function fetched(
  { disk, models, screen }: PullParts,
  entry: CatalogueEntry,
  { partial, signal }: { readonly partial: string; readonly signal: AbortSignal },
): Promise<number> {
  try {
    return await downloadFile({ disk, models }, {
      url: entry.url,
      partial,
      bytes: entry.bytes,
      max: entry.bytes ?? Math.ceil(entry.about * SLACK),
      onBytes: onBytesOf((total) => progress(screen, "fetching", total || entry.about)),
      signal,
    });
  } catch (error) {
    throw withAdvice(error, entry);
  } finally {
    screen.hint("");
  }
}

async function takeIn(
  parts: PullParts,
  entry: CatalogueEntry,
  { partial, bytes }: { readonly partial: string; readonly bytes: number },
): Promise<StoredWeights> {
  const { disk, models, places, screen } = parts;
  const wrong = (why: string): Fault =>
    new Fault(
      "refused",
      `Cannot take "${entry.name}" in: ${why}; nothing of it was kept. ` +
        "Do not use this source until you know why",
    );
  try {
    const { architecture } = headerOf(models.weights, partial, wrong);
    const sha256 = await models.weights.hash(partial, {
      onBytes: progress(screen, "checking", bytes),
    });
    screen.hint("");
    if (entry.sha256 !== undefined && sha256 !== entry.sha256) {
      throw wrong(`its sha256 is ${sha256}, and the catalogue says ${entry.sha256}`);
    }
    needSignature(entry.name, { sha256, bytes, signature: entry.signature }, parts.modelKeys);
    const same = listWeights(disk, places).find((each) => each.sha256 === sha256);
    if (same !== undefined) {
      throw new Fault(
        "alreadyExists",
        `Cannot pull "${entry.name}": the store has these weights as "${same.name}"`,
      );
    }
    return putWeights({ disk, places, weights: models.weights }, partial, {
      version: 1,
      name: entry.name,
      sha256: sha256 as StoredWeights["sha256"],
      bytes,
      licence: entry.licence,
      source: entry.url,
      ...(entry.signature === undefined ? {} : { signature: entry.signature }),
      pinned: pinnedNow(parts.environment),
      architecture,
      ...(entry.contextTokens === undefined ? {} : { contextTokens: entry.contextTokens }),
      ...(entry.dialect === undefined ? {} : { dialect: entry.dialect }),
    });
  } finally {
    // Stored or invalid: in both cases there is nothing to continue.
    dropPartial(disk, partial);
  }
}

// Downloads one large file over HTTP into a partial file: resumes, follows redirects by rule, and limits the
// size. The result is complete but not trusted yet.

/** A download and its limits. */
export interface Download {
  readonly url: string;
  /** Absolute; the state for resuming is beside it, with suffix `.json`. */
  readonly partial: string;
  /** Exact size in bytes, if known. */
  readonly bytes?: number | undefined;
  /** Maximum bytes. */
  readonly max: number;
  onBytes(done: number, total: number | undefined): void;
  readonly signal: AbortSignal;
}

interface Parts {
  readonly disk: EntryFiles;
  readonly models: { readonly weights: WeightsDisk; readonly http: ModelHttp };
}

const MAX_REDIRECTS = 5;
const MOVED = [301, 302, 303, 307, 308];
const Note = z.object({
  url: z.string(),
  /** The server's validator of this version of the file. */
  validator: z.string().optional(),
}).strict();
type Note = z.infer<typeof Note>;

const refused = (url: string, why: string): Fault =>
  new Fault("refused", `Cannot fetch ${new URL(url).host}'s file: ${why}`);

/** The target of a redirect. https stays https; only a server on this machine may redirect to plain http. */
function nextUrl(from: string, to: string | undefined): string {
  const next = to !== undefined && URL.canParse(to, from) ? new URL(to, from) : undefined;
  if (next === undefined) throw refused(from, "it redirects to nowhere");
  const plain = next.protocol === "http:" && isLoopback(next.hostname) &&
    isLoopback(new URL(from).hostname);
  if (next.protocol !== "https:" && !plain) {
    throw refused(
      from,
      `it redirects to "${next.protocol}//…"; only https is followed, so that nobody on the way ` +
        "can put another file in",
    );
  }
  if (next.username !== "" || next.password !== "") {
    throw refused(from, "it redirects to a URL with a password");
  }
  return next.href;
}

async function open(
  { models }: Parts,
  { url, signal }: Pick<Download, "url" | "signal">,
  headers: Readonly<Record<string, string>>,
): Promise<HttpAnswer> {
  let at = url;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const answer = await models.http.get(at, { headers, signal });
    if (!MOVED.includes(answer.status)) return answer;
    await answer.cancel();
    at = nextUrl(at, answer.header("location"));
  }
  throw refused(url, `it redirects more than ${MAX_REDIRECTS} times`);
}

function readNote(disk: Pick<EntryFiles, "read">, path: string): Note | undefined {
  const bytes = disk.read(path);
  if (bytes === undefined) return undefined;
  try {
    const parsed = Note.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Removes a partial file and its state. */
function dropPartial(disk: Pick<EntryFiles, "remove">, partial: string): void {
  disk.remove(partial);
  disk.remove(`${partial}.json`);
}

/** A strong validator, for range requests. */
function validatorOf(answer: HttpAnswer): string | undefined {
  const tag = answer.header("etag");
  if (tag !== undefined && tag.startsWith('"')) return tag;
  return answer.header("last-modified");
}

function wrongStatus(url: string, status: number): Fault {
  const { host } = new URL(url);
  if (status === 404 || status === 410) {
    return new Fault("notFound", `Cannot fetch: ${host} no longer has the file (${status})`);
  }
  if (status === 401 || status === 403) {
    return new Fault(
      "refused",
      `Cannot fetch: ${host} does not give the file to everybody (${status})`,
    );
  }
  return new Fault("upstream", `Cannot fetch: ${host} answered ${status}; try again later`);
}

/** The offset and total length that an answer states. */
function placeOf(
  answer: HttpAnswer,
  had: number,
): { readonly at: number; readonly total: number | undefined } | undefined {
  const length = Number(answer.header("content-length") ?? Number.NaN);
  const known = Number.isSafeInteger(length) ? length : undefined;
  if (answer.status === 200) return { at: 0, total: known };
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(answer.header("content-range") ?? "");
  if (range === null || Number(range[1]) !== had) return undefined;
  return { at: had, total: Number(range[3]) };
}

/** Whether the server says that nothing follows the bytes we have. */
function isWhole(answer: HttpAnswer, had: number): boolean {
  const [, total] = /^bytes \*\/(\d+)$/.exec(answer.header("content-range") ?? "") ?? [];
  return answer.status === 416 && Number(total) === had;
}

/**
 * Downloads the file and returns its size. An interrupted download is kept and resumed the next time.
 *
 * @throws Fault `refused` for a wrong size or redirect (nothing is kept), `upstream` or `cancelled` when it
 * broke off (the part is kept), `notFound`, `storeFull`
 */
async function downloadFile(parts: Parts, download: Download): Promise<number> {
  const { disk, models } = parts;
  const { partial, url, max } = download;
  const note = readNote(disk, `${partial}.json`);
  const had = models.weights.stat(partial)?.bytes ?? 0;
  const ours = note?.url === url && note.validator !== undefined && had > 0;
  // Complete, but interrupted before it was stored.
  if (ours && had === download.bytes) return had;
  const going = ours && had < max;
  if (!going) dropPartial(disk, partial);
  const answer = await open(parts, download, {
    ...(going ? { range: `bytes=${had}-`, "if-range": note.validator ?? "" } : {}),
  });
  const place = answer.status === 200 || answer.status === 206 ? placeOf(answer, had) : undefined;
  if (place === undefined) {
    await answer.cancel();
    if (going && isWhole(answer, had)) return had;
    if (!going) throw wrongStatus(url, answer.status);
    // The server does not resume: start again, once.
    dropPartial(disk, partial);
    return await downloadFile(parts, download);
  }
  const { at, total } = place;
  const exact = download.bytes ?? total;
  const wrong = total !== undefined && exact !== total
    ? `it has ${total} bytes, and ${exact} were expected`
    : (total ?? 0) > max
    ? `it has ${total} bytes, and at most ${max} were expected`
    : undefined;
  if (wrong !== undefined) {
    await answer.cancel();
    dropPartial(disk, partial);
    throw refused(url, wrong);
  }
  const validator = validatorOf(answer) ?? (at > 0 ? note?.validator : undefined);
  disk.write(
    `${partial}.json`,
    `${JSON.stringify({ url, ...(validator === undefined ? {} : { validator }) })}\n`,
  );
  const done = await receive(parts, download, answer, { at, total: exact });
  if (exact !== undefined && done < exact) {
    throw new Fault(
      "upstream",
      `Cannot fetch all of it: ${done} of ${exact} bytes came; the same command goes on from there`,
    );
  }
  return done;
}

async function receive(
  { disk, models }: Parts,
  { partial, url, max, onBytes }: Download,
  answer: HttpAnswer,
  { at, total }: { readonly at: number; readonly total: number | undefined },
): Promise<number> {
  const limit = total ?? max;
  const writer = models.weights.writer(partial, at);
  let done = at;
  let long = false;
  try {
    for await (const piece of answer.body) {
      if (done + piece.length > limit) {
        long = true;
        break;
      }
      writer.write(piece);
      done += piece.length;
      onBytes(done, total);
    }
  } finally {
    writer.close();
  }
  if (!long) return done;
  dropPartial(disk, partial);
  throw refused(url, `it is longer than ${limit} bytes`);
}

/** Makes a progress callback that waits for the total. */
function onBytesOf(show: (total: number) => OnBytes): Download["onBytes"] {
  let shown: OnBytes | undefined;
  return (done, total) => {
    shown ??= show(total ?? 0);
    shown(done);
  };
}
