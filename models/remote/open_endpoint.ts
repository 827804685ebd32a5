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
import { draining } from "./answer/drain.ts";
import { makeByteScrub, makeStreamText, scrubFault, scrubText } from "./redact/scrub.ts";

/** Milliseconds without progress after which a request fails. */
const IDLE_MS = 60_000;
/** A local server may have to load the model and read a long prompt before its first byte. */
const LOCAL_FIRST_MS = 600_000;
/** Bytes read of a refusal's body. */
const REFUSAL_BYTES = 65_536;
/** Headers that may identify the sender. The credential's own header is set only in this file. */
const NEVER_SENT =
  /^(authorization|proxy-authorization|cookie|host|origin|referer|.*(api|access|auth).*(key|token).*)$/i;

/** Throws `invalidInput` for an invalid URL, and for one with more than an origin and a path. */
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
  // A replay does not wait.
  const random = replay === undefined ? powers.random : () => 0;
  const timer = replay === undefined ? powers.timer : { wait: () => Promise.resolve() };

  function urlOf(path: string): URL {
    const url = /^[a-z][a-z0-9+.-]*:/i.test(path)
      ? new URL(path)
      : new URL(`${base.href.replace(/\/$/, "")}${path}`);
    // INVARIANT: requests go to the one origin only (test: another origin is refused).
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
      body: answer.body === null ? nothing() : draining(answer.body, powers),
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

/** The base URL. Its `href` has no trailing slash unless the path is empty. */
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

async function textOf(body: AsyncIterable<Uint8Array>, max: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of body) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length >= max) break;
    }
  } catch (error) {
    // The refusal stands even if its body breaks off; only a cancellation takes precedence.
    if (error instanceof Fault && error.code === "cancelled") throw error;
  }
  return text.slice(0, max);
}

async function* nothing(): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
}

function cancelled(cause?: unknown): Fault {
  return new Fault("cancelled", "Cannot go on with the inference: cancelled", { cause });
}

/** Watches for progress. */
interface IdleWatch {
  /** Reports progress; from now on at most `limitMs` may pass. */
  progressed(limitMs: number): void;
  end(): void;
}

/** Calls `onIdle` once after `limitMs` milliseconds without progress. */
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
  // Rejects only when the watch ends.
  wait().catch(() => undefined);

  return Object.freeze<IdleWatch>({
    progressed: (limit) => void (until = now() + limit),
    // With a reason: creating the default DOMException takes longer than the rest.
    end: () => over.abort("the watch ended"),
  });
}

// The encodings in which a server may echo a credential.

/** A shorter value may be a placeholder (`ollama`, `not-needed`), and so a word of an answer. */
const MIN_KEY = 16;
/** A short value that is no word. */
const SHORT_KEY = /^(?=.*\d)(?=.*[A-Za-z])\S{8,}$/;

/**
 * Every text that reveals a credential, longest first: the value and what follows each space in it (`Bearer
 * KEY`), plain, in JSON and in JSON within JSON; the key also percent-encoded, in hexadecimal, in JSON
 * escapes and in base64.
 */
export function secretsOf(value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  const words = [value, ...wordsOf(value)].filter((each) =>
    each.length >= MIN_KEY || SHORT_KEY.test(each)
  );
  // An encoding of a longer text contains the encoding of the key.
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

/** Hexadecimal, percent-encoded and as `\u00` escapes, in lower and upper case. */
function byCharacter(key: string): readonly string[] {
  const pairs = [...new TextEncoder().encode(key)].map((byte) =>
    byte.toString(16).padStart(2, "0")
  );
  return [pairs, pairs.map((pair) => pair.toUpperCase())].flatMap((each) => {
    const numbers = each.map((pair) => `\\u00${pair}`).join("");
    return [each.join(""), each.map((pair) => `%${pair}`).join(""), numbers, inJson(numbers)];
  });
}

/** Encoded as a path segment and as a form field, in upper and lower case. */
function inUrls(key: string): readonly string[] {
  return [encodeURIComponent(key), new URLSearchParams({ k: key }).toString().slice(2)]
    .flatMap((each) => [each, each.replace(/%../g, (escape) => escape.toLowerCase())]);
}

/** The part of its base64 that does not depend on the text around it, in both alphabets. */
function inBase64(key: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = new TextEncoder().encode("\0".repeat(before) + key);
    const sure = whole.subarray(0, whole.length - whole.length % 3).toBase64()
      .slice(Math.ceil(before * 8 / 6));
    return [sure, sure.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
