/**
 * The agent program of a host's session: it makes exactly the call that its message names, and says what came of it.
 * It infers nothing. Gate, log, budgets and receipts are those of any other program.
 * @module
 */
import * as z from "zod";
import { CallId, Colour, Fault, Label, Outcome, ToolName } from "../../contracts/mod.ts";

/** One call, as the message of a turn. */
export interface CallWords {
  readonly id: CallId;
  readonly name: ToolName;
  /** JSON text. */
  readonly arguments: string;
}

/** What came of a call. */
export const Called = z.object({
  callId: CallId,
  outcome: Outcome,
  content: z.string(),
  error: z.string().optional(),
  colour: Colour,
  label: Label,
}).strict();
/** See {@link Called}. */
export type Called = z.infer<typeof Called>;

/** Most UTF-16 units of an answer: what the kernel takes as the end of a turn. */
const ANSWER = 1_000_000;

/**
 * Source of the program: an IIFE. It runs without any right; what it says of a result is believed only as far as the
 * kernel's own log bears it out, because the session that it speaks for is its only reader.
 */
export const CALLER_PROGRAM = `(() => {
  const asked = (text) => {
    try { return JSON.parse(text).call; } catch { return undefined; }
  };
  const make = async (ports, call) => {
    for (let tries = 0;; tries++) {
      const { id } = await ports.advertise();
      const result = await ports.call(id, call);
      if (result.outcome !== "unknownTool" || tries > 0) return result;
    }
  };
  return {
    async turn(ports, message) {
      const call = message === undefined ? undefined : asked(message.content);
      if (call === undefined) return { stop: "answered", text: "ready" };
      const { content, ...head } = await make(ports, call);
      return { stop: "answered", text: (JSON.stringify(head) + "\\n" + content).slice(0, ${ANSWER}) };
    },
  };
})()`;

/** The message that has the program make a call. Throws `tooLarge` when no turn takes it. */
export function callMessage(call: CallWords): string {
  const text = JSON.stringify({ call });
  if (text.length <= 200_000) return text;
  throw new Fault(
    "tooLarge",
    `Cannot call "${call.name}": its arguments are longer than a call over MCP may have (180,000 characters)`,
  );
}

/** Reads the program's answer; undefined when it is about no call, or about another one. */
export function readCalled(answer: string, call: CallId): Called | undefined {
  const end = answer.indexOf("\n");
  if (end < 0) return undefined;
  let head: unknown;
  try {
    head = JSON.parse(answer.slice(0, end));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const parsed = Called.safeParse({ ...Object(head), content: answer.slice(end + 1) });
  return parsed.success && parsed.data.callId === call ? parsed.data : undefined;
}
