/** A provider on loopback: checks a request as strictly as the real one, then plays the next answer. @module */
import type { Answer, Failed, Piece, Said } from "./script.ts";
import { type Loopback, type Received, type Reply, serveLoopback } from "./server.ts";

/** A JSON object of a request. */
export type Fields = Readonly<Record<string, unknown>>;

/** A running provider. */
export interface Provider extends Loopback {
  /** The base URL, for `RemoteConfig.url`. */
  readonly url: string;
  /** Bodies of the requests for text, parsed, in order, refused ones included. */
  readonly asked: readonly Fields[];
  /** Adds answers to the queue. */
  next(...answers: readonly Answer[]): void;
  /** Number of remaining answers. */
  readonly waiting: () => number;
}

/** The differences between protocols. */
export interface Protocol {
  /** Path beneath the origin of the base URL, such as `/v1`. */
  readonly base: string;
  /** Path of the requests for text. */
  readonly path: string;
  /** Headers of a stream. */
  readonly headers: Readonly<Record<string, string>>;
  /** Refuses a request as the provider would. */
  check(fields: Fields, received: Received): Failed | undefined;
  /** A request for anything other than text. */
  other(received: Received): Failed;
  /** The pieces of an answer. */
  stream(said: Said, fields: Fields): Iterable<Piece>;
  /** The answer when the queue is empty. */
  readonly empty: Failed;
}

/** Serves a protocol. */
export function serveProvider(protocol: Protocol, answers: readonly Answer[] = []): Provider {
  const queue: Answer[] = [...answers];
  const asked: Fields[] = [];
  const loopback = serveLoopback((received): Reply => {
    if (received.path !== protocol.path || received.method !== "POST") {
      return reply(protocol.other(received));
    }
    const fields = fieldsOf(received.body);
    if (fields === undefined) return reply({ status: 400, body: "the body is not a JSON object" });
    asked.push(fields);
    const refused = protocol.check(fields, received);
    if (refused !== undefined) return reply(refused);
    const answer = queue.shift();
    if (answer === undefined) return reply(protocol.empty);
    if ("raw" in answer) {
      const { raw, headers = protocol.headers, ...rest } = answer;
      return { ...rest, headers, pieces: raw };
    }
    if ("status" in answer) return reply(answer);
    return {
      headers: protocol.headers,
      pieces: protocol.stream(answer, fields),
      cut: answer.cut === true,
    };
  });
  return Object.freeze<Provider>({
    ...loopback,
    url: `${loopback.origin}${protocol.base}`,
    asked,
    next: (...more) => void queue.push(...more),
    waiting: () => queue.length,
  });
}

function reply({ status, headers = {}, body = "" }: Failed): Reply {
  if (typeof body === "string") return { status, headers, pieces: [body] };
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    pieces: [JSON.stringify(body)],
  };
}

function fieldsOf(text: string): Fields | undefined {
  try {
    return asFields(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** An object's fields; undefined for anything else. */
export function asFields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Fields
    : undefined;
}

/** A list's members; empty for anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
