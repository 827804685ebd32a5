/** What an agent is shown of an answer. @module */
import type { GrantedCall, PowerResult } from "../contracts/power.ts";
import type { NetAnswer } from "../contracts/wire_net.ts";
import { sha256Hex } from "../port/digest.ts";
import { labelOfAnswer } from "./answer_label.ts";
import { bodyBytes, mediaType, tryText } from "./text_body.ts";

const SHOWN = [
  "content-type",
  "content-language",
  "last-modified",
  "etag",
  "location",
  "retry-after",
  "allow",
];
const HEADER_UNITS = 512;
const SOURCE_UNITS = 512;
/** Bytes that the notes around a body may take. */
const NOTE_BYTES = 200;

const encoder = new TextEncoder();

/**
 * The result of a fetch: status line, a few headers and the body as text within `call.resultBytes`
 * bytes; a body that is not text as its size and SHA-256. Always RED; `internal` when it came from
 * an address that is not public. `value` is `{ status, url, contentType, bytes, cut, stopped? }`.
 */
export function fetchResult(
  answer: NetAnswer,
  call: Pick<GrantedCall, "resultBytes">,
): PowerResult {
  const { status, url, bytes, cut, stopped } = answer;
  const head = headOf(answer);
  const room = Math.max(0, call.resultBytes - encoder.encode(head).length - NOTE_BYTES);
  const label = labelOfAnswer(answer);
  return {
    content: `${head}\n${shownBody(answer, room)}`,
    colour: "RED",
    label,
    sources: [{ source: url.slice(0, SOURCE_UNITS), colour: "RED", label }],
    value: {
      status,
      url,
      contentType: mediaType(answer),
      bytes,
      cut,
      ...(stopped === undefined ? {} : { stopped: { ...stopped } }),
    },
  };
}

function headOf(answer: NetAnswer): string {
  const lines = [`HTTP ${answer.status} from ${answer.url}`];
  for (const name of SHOWN) {
    const value = answer.headers[name];
    if (value !== undefined) lines.push(`${name}: ${value.slice(0, HEADER_UNITS)}`);
  }
  const { stopped } = answer;
  if (stopped !== undefined) {
    const place = JSON.stringify(stopped.location.slice(0, HEADER_UNITS));
    lines.push(`redirect to ${place} not followed: ${stopped.why}`);
  }
  return `${lines.join("\n")}\n`;
}

function shownBody(answer: NetAnswer, room: number): string {
  if (answer.bytes === 0) return "(no body)";
  const text = tryText(answer);
  if (text === undefined) {
    const digest = sha256Hex(bodyBytes(answer));
    const part = answer.cut ? "the first " : "";
    return `(not text: ${part}${answer.bytes} bytes, sha256 ${digest})`;
  }
  const whole = encoder.encode(text);
  if (whole.length <= room) {
    return answer.cut ? `${text}\n(cut: the answer goes on after ${answer.bytes} bytes)` : text;
  }
  const shown = new TextDecoder().decode(whole.subarray(0, room), { stream: true });
  const more = answer.cut ? "more than " : "";
  return `${shown}\n(cut: ${room} bytes of ${more}${whole.length} are shown)`;
}
