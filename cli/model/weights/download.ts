/**
 * One large file over HTTP into a partial file: it goes on where it broke off, follows redirects by
 * rule, and is bounded. What it gives is whole, and not yet trusted.
 * @module
 */
import * as z from "zod";
import { Fault } from "../../../contracts/mod.ts";
import type { DiskRead, DiskWrite } from "../../hands.ts";
import type { HttpAnswer, ModelHands, OnBytes } from "../hands.ts";
import { isThisMachine } from "../name.ts";

/** What is fetched, and how large it may be. */
export interface Download {
  readonly url: string;
  /** Absolute; beside it, with `.json` behind, what is needed to go on. */
  readonly partial: string;
  /** Exact size in bytes, if it is known. */
  readonly bytes?: number | undefined;
  /** Most bytes. */
  readonly most: number;
  onBytes(done: number, total: number | undefined): void;
  readonly signal: AbortSignal;
}

interface Parts {
  readonly disk: DiskRead & DiskWrite;
  readonly models: Pick<ModelHands, "http" | "weights">;
}

const REDIRECTS = 5;
const MOVED = [301, 302, 303, 307, 308];
const Note = z.object({
  url: z.string(),
  /** What the server knows this version of the file by. */
  validator: z.string().optional(),
}).strict();
type Note = z.infer<typeof Note>;

const refused = (url: string, why: string): Fault =>
  new Fault("refused", `Cannot fetch ${new URL(url).host}'s file: ${why}`);

/** Where a redirect leads. https stays https; only a server of this machine may go on without it. */
function nextUrl(from: string, to: string | undefined): string {
  const next = to !== undefined && URL.canParse(to, from) ? new URL(to, from) : undefined;
  if (next === undefined) throw refused(from, "it redirects to nowhere");
  const plain = next.protocol === "http:" && isThisMachine(next.href) && isThisMachine(from);
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
  for (let hops = 0; hops <= REDIRECTS; hops++) {
    const answer = await models.http.get(at, { headers, signal });
    if (!MOVED.includes(answer.status)) return answer;
    await answer.cancel();
    at = nextUrl(at, answer.header("location"));
  }
  throw refused(url, `it redirects more than ${REDIRECTS} times`);
}

function readNote(disk: DiskRead, path: string): Note | undefined {
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

/** Forgets a partial file and what was known of it. */
export function dropPartial(disk: DiskWrite, partial: string): void {
  disk.remove(partial);
  disk.remove(`${partial}.json`);
}

/** A strong validator: what a range may be asked under. */
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

/** Where an answer begins and how long the whole is, as it says itself. */
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

/** Whether the server says, of a range behind what is here, that there is nothing behind it. */
function isWhole(answer: HttpAnswer, had: number): boolean {
  const [, total] = /^bytes \*\/(\d+)$/.exec(answer.header("content-range") ?? "") ?? [];
  return answer.status === 416 && Number(total) === had;
}

/**
 * Fetches the file; gives its size. What broke off is kept and gone on with the next time.
 *
 * @throws Fault `refused` when it is another size or leads elsewhere (nothing is kept), `upstream` or
 * `cancelled` when it broke off (what came is kept), `notFound`, `storeFull`
 */
export async function downloadFile(parts: Parts, download: Download): Promise<number> {
  const { disk, models } = parts;
  const { partial, url, most } = download;
  const note = readNote(disk, `${partial}.json`);
  const had = models.weights.stat(partial)?.bytes ?? 0;
  const ours = note?.url === url && note.validator !== undefined && had > 0;
  // It came whole, and broke off before it was taken in.
  if (ours && had === download.bytes) return had;
  const going = ours && had < most;
  if (!going) dropPartial(disk, partial);
  const answer = await open(parts, download, {
    ...(going ? { range: `bytes=${had}-`, "if-range": note.validator ?? "" } : {}),
  });
  const place = answer.status === 200 || answer.status === 206 ? placeOf(answer, had) : undefined;
  if (place === undefined) {
    await answer.cancel();
    if (going && isWhole(answer, had)) return had;
    if (!going) throw wrongStatus(url, answer.status);
    // The server will not go on: from the start, once.
    dropPartial(disk, partial);
    return await downloadFile(parts, download);
  }
  const { at, total } = place;
  const exact = download.bytes ?? total;
  const wrong = total !== undefined && exact !== total
    ? `it has ${total} bytes, and ${exact} were expected`
    : (total ?? 0) > most
    ? `it has ${total} bytes, and at most ${most} were expected`
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
  { partial, url, most, onBytes }: Download,
  answer: HttpAnswer,
  { at, total }: { readonly at: number; readonly total: number | undefined },
): Promise<number> {
  const limit = total ?? most;
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

/** What shows progress when a total may be unknown. */
export function onBytesOf(show: (total: number) => OnBytes): Download["onBytes"] {
  let shown: OnBytes | undefined;
  return (done, total) => {
    shown ??= show(total ?? 0);
    shown(done);
  };
}
