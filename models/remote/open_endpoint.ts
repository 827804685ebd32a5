/** Makes the endpoint of a configuration: a provider's origin, or a recording. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { isLoopback } from "../../contracts/base/loopback.ts";
import type { Credential } from "../../contracts/model/model_config.ts";
import { boundedBody } from "./answer/body.ts";
import type {
  Endpoint,
  EndpointConfig,
  RemotePowers,
  SendOptions,
  WireRequest,
  WireResponse,
} from "./endpoint.ts";
import {
  type Exchange,
  keptHeaders,
  lineOf,
  makeReplay,
  pieceOf,
  type Played,
} from "./recording.ts";
import { again, inSeconds, retryAfter, retrying } from "./retry.ts";
import { type Asked, faultOfNetwork, faultOfRefusal } from "./provider_fault.ts";
import { readingAway } from "./answer/read_away.ts";
import { makeByteScrub, makeStreamText, scrubFault, scrubText } from "./redact/scrub.ts";

/** Milliseconds without progress after which an answer is given up. */
const IDLE_MS = 60_000;
/** On this machine a model may first have to be loaded, and a long prompt read, before anything comes. */
const LOCAL_FIRST_MS = 600_000;
/** Bytes of a refusal's body that are read. */
const REFUSAL_BYTES = 65_536;
/** May carry who asks; only the credential's own header is ever set, here. */
const NEVER_SENT =
  /^(authorization|proxy-authorization|cookie|host|origin|referer|.*(api|access|auth).*(key|token).*)$/i;

/** Throws `invalidInput` for a URL that is none, or holds more than an origin and a path. */
export function openEndpoint(
  config: EndpointConfig,
  credential: Credential | undefined,
  powers: RemotePowers,
): Endpoint {
  const base = baseOf(config);
  const remote = !isLoopback(base.hostname);
  const secrets = secretsOf(credential?.value);
  const replay = config.replay === undefined ? undefined : makeReplay(config.replay);
  const asked = askedOf(config, base, credential);
  // A recording keeps no one waiting.
  const random = replay === undefined ? powers.random : () => 0;
  const timer = replay === undefined ? powers.timer : { wait: () => Promise.resolve() };

  function urlOf(path: string): URL {
    const url = /^[a-z][a-z0-9+.-]*:/i.test(path)
      ? new URL(path)
      : new URL(`${base.href.replace(/\/$/, "")}${path}`);
    // INVARIANT: nothing but the one origin is asked (test: another origin is refused).
    if (url.origin !== base.origin) {
      throw new Fault("refused", `Cannot send: ${url.origin} is not ${base.origin}`);
    }
    return url;
  }

  async function fetched(
    url: URL,
    { method, headers = {}, body }: WireRequest,
    signal: AbortSignal,
  ): Promise<Played> {
    const sent = Object.entries(headers).filter(([name]) => !NEVER_SENT.test(name));
    const answer = await powers.fetch(url, {
      method,
      headers: [
        ...sent,
        ...(credential === undefined ? [] : [[credential.header, credential.value]]),
      ] as [string, string][],
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal,
    });
    return {
      status: answer.status,
      headers: inSeconds(
        new Map([...answer.headers].map(([name, value]) => [name, scrubText(value, secrets)])),
        powers.date,
      ),
      body: answer.body === null ? nothing() : readingAway(answer.body, powers),
    };
  }

  async function send(request: WireRequest, options: SendOptions): Promise<WireResponse> {
    const { signal, onWire, lineBytes } = options;
    if (signal.aborted) throw cancelled();
    const url = urlOf(request.path);
    const began = powers.now();
    const stop = new AbortController();
    const cancel = (): void => stop.abort();
    signal.addEventListener("abort", cancel, { once: true });
    let idle = false;
    const watch = watchIdle(powers, remote ? IDLE_MS : LOCAL_FIRST_MS, () => {
      idle = true;
      stop.abort();
    });
    const pieces: Exchange["response"]["chunks"] = [];
    let [status, answered, broken] = [0, false, true];
    let headers: ReadonlyMap<string, string> = new Map();

    const finish = (): void => {
      watch.end();
      signal.removeEventListener("abort", cancel);
      onWire?.(lineOf({
        v: 1,
        span: [Math.round(began), Math.round(powers.now())],
        request: {
          method: request.method,
          url: url.href,
          headers: keptHeaders(Object.entries(request.headers ?? {})),
          body: scrubText(request.body ?? "", secrets),
        },
        response: {
          status,
          headers: keptHeaders(headers),
          chunks: pieces,
          ...(broken ? { broken: true } : {}),
        },
      }, secrets));
    };
    const faultOf = (error: unknown): Fault => {
      if (signal.aborted) return cancelled(error);
      if (idle) {
        const why = `${base.host} sent nothing for ${
          (answered || remote ? IDLE_MS : LOCAL_FIRST_MS) / 1_000
        } seconds`;
        return new Fault("upstream", `Cannot infer: ${why}`, {
          ...(answered ? { detail: again() } : {}),
          cause: error,
        });
      }
      return faultOfNetwork(error, { host: base.host, answered });
    };
    async function* body(source: Played["body"]): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
      try {
        yield* boundedBody(source, {
          host: base.host,
          scrub: makeByteScrub(secrets),
          lineBytes,
          onProgress: () => watch.progressed(IDLE_MS),
          onBytes: (bytes) => {
            if (onWire !== undefined) pieces.push(pieceOf(powers.now() - began, bytes));
          },
        });
        broken = false;
      } catch (error) {
        stop.abort();
        throw faultOf(error);
      } finally {
        finish();
      }
    }

    let played: Played;
    try {
      played = replay === undefined
        ? await fetched(url, request, stop.signal)
        : replay.answer({ ...request, url });
    } catch (error) {
      finish();
      throw faultOf(error);
    }
    ({ status, headers } = played);
    answered = true;
    watch.progressed(remote ? IDLE_MS : LOCAL_FIRST_MS);
    if (status >= 200 && status < 300) {
      return Object.freeze<WireResponse>({ status, headers, body: body(played.body) });
    }
    const text = scrubText(await textOf(body(played.body), REFUSAL_BYTES), secrets);
    throw faultOfRefusal({ status, body: text, afterMs: retryAfter(headers) }, asked);
  }

  return Object.freeze<Endpoint>({
    base: base.href.replace(/\/$/, ""),
    host: base.host,
    asked,
    remote,
    send,
    retrying: (attempt, signal) =>
      retrying(attempt, { timer, random, signal }).catch((error: unknown) => {
        throw scrubFault(error, secrets);
      }),
    streamText: () => makeStreamText(secrets),
  });
}

function askedOf(
  { model, secret, replay, keyHeader }: EndpointConfig,
  base: URL,
  credential: Credential | undefined,
): Asked {
  const header = keyHeader ?? "authorization --prefix 'Bearer '";
  const key = secret?.startsWith("env-") === true ? "lent" : "kept";
  return {
    ...{ model, host: base.host, base: base.href.replace(/\/$/, "") },
    key: credential === undefined && replay === undefined ? "none" : key,
    setKey: `remit secret set my-key --origin ${base.origin} --header ${header}`,
  };
}

/** The base URL; its `href` has no slash at its end, unless it is an origin alone. */
function baseOf({ url, base = "" }: EndpointConfig): URL {
  const parsed = URL.parse(url);
  const wrong = (why: string): Fault =>
    new Fault("invalidInput", `Cannot open model: its URL ${why}`);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) throw wrong("is not http or https");
  if (parsed.username !== "" || parsed.password !== "") {
    throw wrong("holds a user; keep the key with `remit secret set`");
  }
  if (parsed.search !== "" || parsed.hash !== "") throw wrong("holds more than a host and a path");
  const path = parsed.pathname.replace(/\/+$/, "");
  parsed.pathname = path === "" ? base : path;
  return parsed;
}

async function textOf(body: AsyncIterable<Uint8Array>, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of body) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length >= most) break;
    }
  } catch (error) {
    // The refusal stands, whether its body came whole or not; only a cancel is more than that.
    if (error instanceof Fault && error.code === "cancelled") throw error;
  }
  return text.slice(0, most);
}

async function* nothing(): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
}

function cancelled(cause?: unknown): Fault {
  return new Fault("cancelled", "Cannot go on with the inference: cancelled", { cause });
}

/** A watch over something that should go on. */
interface IdleWatch {
  /** It went on; from now on at most `limitMs` may pass. */
  progressed(limitMs: number): void;
  end(): void;
}

/** Calls `onIdle` once when nothing progressed for `limitMs` milliseconds. */
export function watchIdle(
  { timer, now }: Pick<RemotePowers, "timer" | "now">,
  limitMs: number,
  onIdle: () => void,
): IdleWatch {
  const over = new AbortController();
  let until = now() + limitMs;

  async function wait(): Promise<void> {
    for (let left = limitMs; left > 0; left = until - now()) await timer.wait(left, over.signal);
    if (!over.signal.aborted) onIdle();
  }
  // Its only rejection is the end of the watch.
  wait().catch(() => undefined);

  return Object.freeze<IdleWatch>({
    progressed: (limit) => void (until = now() + limit),
    // With a reason: an error that is made for nobody takes longer than the rest.
    end: () => over.abort("the watch ended"),
  });
}

// The ways in which a credential may be written where a server says it back.

/** A shorter one may be a placeholder (`ollama`, `not-needed`), and so a word of an answer. */
const SHORTEST = 16;
/** A short one that is no word. */
const SHORT_KEY = /^(?=.*\d)(?=.*[A-Za-z])\S{8,}$/;

/**
 * What stands for a credential's value in answers, the longest first: itself and what follows each
 * space in it (`Bearer KEY`), as they are and as JSON writes them, also within JSON of JSON; the
 * key itself also as URLs, hexadecimal digits, JSON's numbers and base64 write it.
 */
export function secretsOf(value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  const words = [value, ...wordsOf(value)].filter((each) =>
    each.length >= SHORTEST || SHORT_KEY.test(each)
  );
  // What is encoded with more around it holds the encoded key all the same.
  const key = words.at(-1);
  const forms = [
    ...words.flatMap((each) => [each, inJson(each), inJson(inJson(each))]),
    ...(key === undefined ? [] : [...byCharacter(key), ...inUrls(key), ...inBase64(key)]),
  ];
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

function wordsOf(value: string): readonly string[] {
  return [...value.matchAll(/ +/g)].map(({ 0: gap, index }) => value.slice(index + gap.length));
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Hexadecimal digits, `%` before each pair, `\u00` before each pair: in small letters and in capitals. */
function byCharacter(key: string): readonly string[] {
  const pairs = [...new TextEncoder().encode(key)].map((byte) =>
    byte.toString(16).padStart(2, "0")
  );
  return [pairs, pairs.map((pair) => pair.toUpperCase())].flatMap((each) => {
    const numbers = each.map((pair) => `\\u00${pair}`).join("");
    return [each.join(""), each.map((pair) => `%${pair}`).join(""), numbers, inJson(numbers)];
  });
}

/** As a part of a path and as a field of a form; the digits of `%` in capitals and in small letters. */
function inUrls(key: string): readonly string[] {
  return [encodeURIComponent(key), new URLSearchParams({ k: key }).toString().slice(2)]
    .flatMap((each) => [each, each.replace(/%../g, (escape) => escape.toLowerCase())]);
}

/** What is sure of its base64, whatever stands before and after it; in both alphabets. */
function inBase64(key: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = new TextEncoder().encode("\0".repeat(before) + key);
    const sure = whole.subarray(0, whole.length - whole.length % 3).toBase64()
      .slice(Math.ceil(before * 8 / 6));
    return [sure, sure.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
