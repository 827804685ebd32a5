/** An answer under way: words go on at once, calls when they are whole. @module */
import { MESSAGE_LIMIT, type ToolCall } from "../../contracts/chat.ts";
import { Fault } from "../../contracts/fault.ts";
import type { StreamChunk } from "../../contracts/model.ts";
import { CALL_OPEN, parseToolAnswer } from "../grammar/mod.ts";
import { makeCallIds } from "../remote/call_ids.ts";
import { makeDialect } from "../remote/dialect/mod.ts";

/** A whole answer. */
export interface AnsweredText {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  /** It ended within a call, which is dropped. */
  readonly cut: boolean;
}

/** Takes text as a model writes it, and then ends. */
export interface AnswerText {
  push(text: string): void;
  /** Throws `upstream` for a call that no advertised tool can take. */
  end(): AnsweredText;
}

/** What an answer is read with. */
export interface AnswerParts {
  readonly onChunk: (chunk: StreamChunk) => void;
  /** Names of the tools that may be called; empty: all text is text. */
  readonly tools: ReadonlySet<string>;
  /** Ids of the calls that the conversation holds. */
  readonly knownIds: Iterable<string>;
  /** Thoughts stand in `<think>`. */
  readonly thoughts: boolean;
}

/** Makes the reader of one answer. */
export function makeAnswerText({ onChunk, tools, knownIds, thoughts }: AnswerParts): AnswerText {
  const dialect = thoughts ? makeDialect(["think"], tools) : undefined;
  let answer = "";
  /** Characters of `answer` that went on. */
  let given = 0;
  let calling = false;
  let content = "";

  function say(text: string): void {
    if (text === "") return;
    content += text;
    onChunk({ textDelta: text });
  }
  function read(outs: ReturnType<NonNullable<typeof dialect>["text"]>): void {
    for (const out of outs) {
      if ("rationale" in out) onChunk({ rationale: out.rationale });
      else if ("text" in out) say(out.text);
    }
  }
  function give(to: number): void {
    const text = answer.slice(given, to);
    given = Math.max(given, to);
    if (text === "") return;
    if (dialect === undefined) say(text);
    else read(dialect.text(text));
  }

  return Object.freeze<AnswerText>({
    push(text) {
      answer += text;
      if (answer.length > MESSAGE_LIMIT) {
        throw new Fault("upstream", `Cannot go on: more than ${MESSAGE_LIMIT} characters`);
      }
      if (calling) return;
      if (tools.size === 0) return give(answer.length);
      const mark = answer.indexOf(CALL_OPEN, given);
      calling = mark >= 0;
      give(calling ? mark : answer.length - partAtEnd(answer, CALL_OPEN));
    },
    end() {
      const { text, calls, cut } = tools.size === 0
        ? { text: answer, calls: [], cut: false }
        : parseToolAnswer(answer);
      give(text.length);
      if (dialect !== undefined) read(dialect.end());
      const ids = makeCallIds(knownIds);
      const toolCalls = calls.map((call): ToolCall => {
        checkCall(call, tools);
        return { id: ids.next(undefined), name: call.name, arguments: call.arguments };
      });
      for (const toolCallDelta of toolCalls) onChunk({ toolCallDelta });
      return { content, toolCalls, cut };
    },
  });
}

/** The grammar lets nothing else through; this holds it to that. */
function checkCall(
  call: { readonly name: string; readonly arguments: string },
  tools: ReadonlySet<string>,
): void {
  const wrong = (why: string, cause?: unknown): Fault =>
    new Fault("upstream", `Cannot take the model's call: ${why}`, { cause });
  if (!tools.has(call.name)) throw wrong("no such tool was offered");
  let value: unknown;
  try {
    value = JSON.parse(call.arguments);
  } catch (cause) {
    throw wrong("its arguments are no JSON", cause);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong("its arguments are no object");
  }
}

/** How many characters at the end of `text` may be the beginning of `mark`. */
function partAtEnd(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
