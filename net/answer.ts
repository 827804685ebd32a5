/** Turns an answer on the wire into data for the kernel. @module */
import { Buffer } from "node:buffer";
import type { NetAnswer } from "../contracts/wire/wire_net.ts";
import { readBody } from "./body.ts";
import type { WireAnswer } from "./exchange.ts";

/** Maximum bytes of a body: its base64 must fit into a frame. */
const BODY_BYTES = 16 * 1024 * 1024;

/** Statuses without a body, whatever the headers say. */
export const EMPTY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Never passed on: cookies need a jar, and there is none. */
const KEPT_BACK: ReadonlySet<string> = new Set(["set-cookie", "set-cookie2"]);

/** Reads the rest of an answer. @throws {Fault} as {@link readBody} and the body itself */
export async function answerFrom(
  answer: WireAnswer,
  options: {
    readonly method: string;
    readonly limit: number;
    readonly take: (bytes: number) => void;
  },
): Promise<Pick<NetAnswer, "status" | "headers" | "body" | "bytes" | "cut">> {
  const headers = joined(answer.headers);
  const empty = options.method === "HEAD" || EMPTY.has(answer.status);
  const { bytes, cut } = empty
    ? { bytes: new Uint8Array(0), cut: false }
    : await readBody(answer.body, {
      encoding: headers["content-encoding"] ?? "",
      limit: Math.min(options.limit, BODY_BYTES),
      take: options.take,
    });
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  return { status: answer.status, headers, body, bytes: bytes.length, cut };
}

/** Merges repeated headers, as HTTP allows, and drops cookies. */
export function joined(pairs: WireAnswer["headers"]): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (KEPT_BACK.has(name)) continue;
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(values);
}
