/**
 * Recordings of exchanges with a provider: written one line per exchange, parsed, replayed. Callers scrub texts first
 * (open_endpoint.ts); here headers are dropped, and answers that hold a key in pieces. cli/model/recording/ writes and
 * reads the file.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { fieldsOf, numberOf, stringOf, tryJson } from "./wire_json.ts";
import { scrubText } from "./redact/scrub.ts";
import type { WireRequest } from "./endpoint.ts";
import { again } from "./retry.ts";
import * as z from "zod";

/** A piece of an answer: milliseconds since the request, and text, or base64 if it is not UTF-8. */
const Piece = z.union([
  z.tuple([z.number(), z.string()]),
  z.tuple([z.number(), z.object({ base64: z.string() }).strict()]),
]);

/** One exchange. */
export const Exchange = z.object({
  v: z.literal(1),
  /** Start and end in milliseconds of the service's clock. */
  span: z.tuple([z.number(), z.number()]).optional(),
  request: z.object({
    method: z.enum(["GET", "POST"]),
    /** Absolute. */
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
  }).strict(),
  response: z.object({
    /** 0: no answer. */
    status: z.int().min(0).max(599),
    headers: z.record(z.string(), z.string()),
    chunks: z.array(Piece),
    /** The answer broke off, or was not read to its end. */
    broken: z.literal(true).optional(),
    /** The body is missing: the exchange was too long, or its pieces joined to a credential. */
    cut: z.literal(true).optional(),
  }).strict(),
}).strict();
export type Exchange = z.infer<typeof Exchange>;

/** A line as stored: a body may refer to the body before it (cli/model/recording/bodies.ts). */
const Line = Exchange.extend({
  request: Exchange.shape.request.extend({
    body: z.union([
      z.string(),
      z.object({
        model: z.string(),
        before: z.int().min(0),
        text: z.string(),
        after: z.int().min(0),
      }).strict(),
    ]),
  }),
});

/** Characters of all bodies together, after expansion. */
const MAX_BODY_CHARS = 50_000_000;

/** Maximum characters of a line; `RemoteConfig.replay` limits a whole recording to as many. */
export const MAX_LINE_CHARS = 3_000_000;

/** Headers that describe the request and the answer, and never identify the sender. */
const KEPT_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "anthropic-beta",
  "anthropic-version",
  "content-type",
  "retry-after",
  "retry-after-ms",
]);

/** The headers that a recording keeps. */
export function keptHeaders(headers: Iterable<readonly [string, string]>): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => KEPT_HEADERS.has(name.toLowerCase())));
}

export function pieceOf(offset: number, bytes: Uint8Array): Exchange["response"]["chunks"][number] {
  const at = Math.round(offset);
  try {
    return [at, new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)];
  } catch {
    return [at, { base64: bytes.toBase64() }];
  }
}

function bytesOf(
  [, piece]: Exchange["response"]["chunks"][number],
): Uint8Array<ArrayBuffer> {
  return typeof piece === "string"
    ? new TextEncoder().encode(piece)
    : Uint8Array.fromBase64(piece.base64);
}

/** Serialises an exchange. One that is too long, or holds a secret in pieces, is marked `cut` and loses its bodies. */
export function lineOf(exchange: Exchange, secrets: readonly string[] = []): string {
  const { request, response } = exchange;
  const line = JSON.stringify(exchange);
  if (line.length <= MAX_LINE_CHARS && !holdsSplit(textOf(response.chunks), secrets)) return line;
  return JSON.stringify({
    ...exchange,
    request: { ...request, body: "" },
    response: { ...response, chunks: [], cut: true },
  });
}

function textOf(chunks: Exchange["response"]["chunks"]): string {
  const decoder = new TextDecoder();
  const texts = chunks.map((chunk) => decoder.decode(bytesOf(chunk), { stream: true }));
  return texts.join("") + decoder.decode();
}

/** Parses a recording. Throws `invalidInput` with the number of the invalid line, and `tooLarge`. */
export function parseRecording(text: string): readonly Exchange[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const expandBody = makeExpandBody();
  let chars = 0;
  return lines.map((line, index) => {
    const wrong = (why: string, cause?: unknown): Fault =>
      new Fault("invalidInput", `Cannot replay: line ${index + 1} of the recording ${why}`, {
        ...(cause === undefined ? {} : { cause }),
      });
    let parsed: z.infer<typeof Line>;
    try {
      parsed = Line.parse(JSON.parse(line));
    } catch (cause) {
      throw wrong("is not an exchange", cause);
    }
    const body = expandBody(parsed.request);
    if (body === undefined) throw wrong("refers to an earlier body that is missing");
    chars += body.length;
    if (chars > MAX_BODY_CHARS) {
      throw new Fault(
        "tooLarge",
        `Cannot replay: its requests are more than ${MAX_BODY_CHARS} characters`,
      );
    }
    return { ...parsed, request: { ...parsed.request, body } };
  });
}

/** Makes a function that expands bodies in the order of the recording; undefined if the referenced body is missing. */
function makeExpandBody(): (request: z.infer<typeof Line>["request"]) => string | undefined {
  const last = new Map<string, string>();
  return ({ url, body }) => {
    if (typeof body === "string") {
      const model = stringOf(fieldsOf(tryJson(body))["model"]);
      if (model !== "") last.set(`${url}\0${model}`, body);
      return body;
    }
    const key = `${url}\0${body.model}`;
    const previous = last.get(key);
    if (previous === undefined || body.before + body.after > previous.length) return undefined;
    const whole = previous.slice(0, body.before) + body.text +
      previous.slice(previous.length - body.after);
    last.set(key, whole);
    return whole;
  };
}

// A credential may be echoed a few characters per event: no single piece holds it, but a reader that joins
// the pieces sees it.

/** Nested levels of an event: no protocol has text deeper down. */
const MAX_DEPTH = 32;

/**
 * Whether the joined texts of a field of the answer's events hold a secret. `answer` is a stream of events or
 * of JSON lines.
 */
function holdsSplit(answer: string, secrets: readonly string[]): boolean {
  if (secrets.length === 0) return false;
  const joined = new Map<string, string[]>();
  for (const line of answer.split("\n")) {
    collect(tryJson(line.startsWith("data:") ? line.slice("data:".length) : line), "", joined);
  }
  return [...joined.values()].map((texts) => texts.join("")).some((text) =>
    scrubText(text, secrets) !== text
  );
}

/** Collects texts by place: the path of members, with the `index` that tells calls apart. */
function collect(value: unknown, place: string, joined: Map<string, string[]>, depth = 0): void {
  if (typeof value === "string") {
    joined.getOrInsert(place, []).push(value);
  } else if (depth === MAX_DEPTH) return;
  else if (Array.isArray(value)) {
    for (const each of value) collect(each, `${place}[]`, joined, depth + 1);
  } else {
    const fields = fieldsOf(value);
    const index = numberOf(fields["index"]) ?? "";
    for (const [name, each] of Object.entries(fields)) {
      collect(each, `${place}${index}.${name}`, joined, depth + 1);
    }
  }
}

/** A replayed answer. */
export interface Played {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** Answers requests from a recording. */
interface Replay {
  /** Throws `conflict` if the request differs from the recording, or none is left. */
  answer(request: Asked): Played;
}

/**
 * Makes the replay of `recording` (JSON lines). Concurrent requests are recorded in the order in which they
 * ended, and are accepted in any order. Throws `invalidInput`.
 */
export function makeReplay(recording: string): Replay {
  const exchanges = parseRecording(recording);
  const left = [...exchanges];
  let n = 0;
  return Object.freeze<Replay>({
    answer(request) {
      n += 1;
      const [next] = left;
      if (next === undefined) {
        throw conflict(`the recording has ${exchanges.length} requests, this is number ${n}`);
      }
      const at = left.findIndex((each) =>
        (each === next || overlaps(each, next)) && isSame(request, each)
      );
      if (at < 0) throw differing(n, request, next);
      const [{ response: { status, headers, chunks, broken } } = next] = left.splice(at, 1);
      if (status === 0) {
        const tried = left.some((each) => isSame(request, each));
        throw new Fault("upstream", "Cannot infer: the recording has no answer here", {
          ...(tried ? { detail: again() } : {}),
        });
      }
      return {
        status,
        headers: new Map(Object.entries(headers)),
        body: play(chunks, broken === true),
      };
    },
  });
}

async function* play(
  chunks: Exchange["response"]["chunks"],
  broken: boolean,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  for (const chunk of chunks) {
    yield bytesOf(chunk);
    // Yields each piece separately, as on the wire.
    await undefined;
  }
  if (broken) throw new Fault("upstream", "Cannot infer: the recorded answer breaks off here");
}

/** Whether `later` began before `next` ended. */
function overlaps(later: Exchange, next: Exchange): boolean {
  return later.span !== undefined && next.span !== undefined && later.span[0] < next.span[1];
}

type Asked = WireRequest & { readonly url: URL };

function isSame({ method, url, body = "" }: Asked, { request, response }: Exchange): boolean {
  return response.cut !== true && body === request.body && method === request.method &&
    url.pathname === new URL(request.url).pathname;
}

/** The fault that names the difference between a request and the next exchange. */
function differing(n: number, { method, url, body = "" }: Asked, next: Exchange): Fault {
  const { request } = next;
  if (next.response.cut === true) {
    return conflict(
      `request ${n} was not recorded: it was too long, or its answer held the key in pieces`,
    );
  }
  const recorded = new URL(request.url);
  if (method !== request.method || url.pathname !== recorded.pathname) {
    return conflict(
      `request ${n} is ${method} ${url.pathname}, the recording has ${request.method} ${recorded.pathname}`,
    );
  }
  const [here, there] = [body, request.body].map((text) => new TextEncoder().encode(text));
  let at = 0;
  while (here?.[at] !== undefined && here[at] === there?.[at]) at++;
  return conflict(`request ${n} differs from the recording at byte ${at} of its body`);
}

function conflict(why: string): Fault {
  return new Fault("conflict", `Cannot replay: ${why}`);
}
