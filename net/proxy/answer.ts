/** What a proxy answers its client: always the last answer on its connection. @module */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import { EMPTY } from "../answer.ts";
import type { WireAnswer } from "../exchange.ts";
import { answerHeaders } from "./head.ts";
import { joinBytes } from "../../port/join_bytes.ts";

/** Statuses of what the proxy itself says. */
const STATUS: Readonly<Partial<Record<FaultCode, number>>> = {
  invalidInput: 400,
  refused: 403,
  budgetExhausted: 403,
  rateLimited: 503,
  timedOut: 504,
};
const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  403: "Forbidden",
  417: "Expectation Failed",
  431: "Request Header Fields Too Large",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};
const BAD_GATEWAY = 502;

/** What stands after the head. */
export type AnswerBody = "none" | "asItIs" | "chunked";

/** A tunnel is open. */
export const ESTABLISHED: Uint8Array = bytes("HTTP/1.1 200 Connection established\r\n\r\n");
/** Ends a body in chunks. */
export const LAST_CHUNK: Uint8Array = bytes("0\r\n\r\n");

/** The whole answer that tells why there is no other. */
export function refusalBytes(fault: Fault): Uint8Array {
  const given = fault.detail?.["status"];
  const status = typeof given === "number" ? given : STATUS[fault.code] ?? BAD_GATEWAY;
  const text = new TextEncoder().encode(`${fault.message}\n`);
  const head = headBytes(status, [
    ["content-type", "text/plain;charset=utf-8"],
    ["content-length", String(text.length)],
  ]);
  return joinBytes([head, text]);
}

/** The head of an answer, and how its body is to be written. `chunks`: the client reads them. */
export function answerHead(
  answer: Pick<WireAnswer, "status" | "headers">,
  { method, chunks }: { readonly method: string; readonly chunks: boolean },
): { readonly head: Uint8Array; readonly body: AnswerBody } {
  const { status } = answer;
  const of = (name: string): readonly string[] =>
    answer.headers.filter(([each]) => each === name).map(([, value]) => value);
  const codings = of("transfer-encoding");
  if (status < 200 || status > 599 || codings.some((each) => each.toLowerCase() !== "chunked")) {
    throw new Fault("upstream", "Cannot hand on the answer: its form is not known");
  }
  const [length = "", ...others] = codings.length > 0 ? [] : of("content-length");
  const long = /^[0-9]{1,15}$/.test(length) && others.length === 0;
  const empty = method === "HEAD" || EMPTY.has(status);
  const body = empty ? "none" : long || !chunks ? "asItIs" : "chunked";
  return {
    body,
    head: headBytes(status, [
      ...answerHeaders(answer.headers),
      ...(long ? [["content-length", length] as const] : []),
      ...(body === "chunked" ? [["transfer-encoding", "chunked"] as const] : []),
    ]),
  };
}

/** A piece of a body in chunks. */
export function chunkBytes(chunk: Uint8Array): Uint8Array {
  return joinBytes([bytes(`${chunk.length.toString(16)}\r\n`), chunk, bytes("\r\n")]);
}

function headBytes(
  status: number,
  headers: readonly (readonly [string, string])[],
): Uint8Array {
  const lines = [...headers, ["connection", "close"] as const]
    .map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return bytes(`HTTP/1.1 ${status} ${REASONS[status] ?? "Answer"}\r\n${lines}\r\n`);
}

/** Latin-1, as it came. */
function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (unit) => unit.charCodeAt(0));
}
