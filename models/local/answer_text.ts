/** Streams one answer of a local model: text at once, calls when they are complete. Used by gguf_model.ts. @module */
import { MESSAGE_LIMIT, type ToolCall } from "../../contracts/model/chat.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { StreamChunk } from "../../contracts/model/model.ts";
import { CALL_OPEN, parseToolAnswer, type ToolAnswer } from "../grammar/mod.ts";
import { cutAt, makeCallIds, UNMADE_CHARS } from "../remote/assemble.ts";
import { makeDialect, partAtEnd } from "../remote/dialect/mod.ts";

export interface AnsweredText {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  /**
   * The answer ended within a call. If the token limit cut it, the call is in `toolCalls` as `unmade`;
   * otherwise it is dropped.
   */
  readonly cut: boolean;
}

/** Reads the text of one answer. */
export interface AnswerText {
  /** Throws `upstream` for an answer that is too long, and with detail `repeats` for one that repeats itself. */
  push(text: string): void;
  /** `limit`: the token limit that ended the answer. Throws `upstream` for a call that no advertised tool accepts. */
  end(limit?: number): AnsweredText;
}

export interface AnswerParts {
  readonly onChunk: (chunk: StreamChunk) => void;
  /** Names of the tools that may be called. Empty: the answer is plain text. */
  readonly tools: ReadonlySet<string>;
  /** Ids of the calls in the conversation. */
  readonly knownIds: Iterable<string>;
  /** Whether thoughts come in `<think>`. */
  readonly thoughts: boolean;
}

/** Makes the reader of one answer. */
export function makeAnswerText({ onChunk, tools, knownIds, thoughts }: AnswerParts): AnswerText {
  const dialect = thoughts ? makeDialect(["think"], tools) : undefined;
  let answer = "";
  /** Characters of `answer` that were passed on. */
  let given = 0;
  let calling = false;
  let content = "";
  let checked = 0;

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
      if (answer.length - checked >= CHECK_EVERY) {
        checked = answer.length;
        const unit = repeatedIn(answer);
        if (unit !== undefined) throw repeatsItself(unit);
      }
      if (calling) return;
      if (tools.size === 0) return give(answer.length);
      const mark = answer.indexOf(CALL_OPEN, given);
      calling = mark >= 0;
      give(calling ? mark : answer.length - partAtEnd(answer, [CALL_OPEN]));
    },
    end(limit) {
      const { text, calls, cut, begun }: ToolAnswer = tools.size === 0
        ? { text: answer, calls: [], cut: false }
        : parseToolAnswer(answer);
      give(text.length);
      if (dialect !== undefined) read(dialect.end());
      const ids = makeCallIds(knownIds);
      const toolCalls = calls.map((call): ToolCall => {
        checkCall(call, tools);
        return { id: ids.next(undefined), name: call.name, arguments: call.arguments };
      });
      if (begun !== undefined && limit !== undefined) {
        toolCalls.push({
          id: ids.next(undefined),
          name: begun.name.slice(0, 128),
          arguments: begun.arguments.slice(0, UNMADE_CHARS).toWellFormed(),
          unmade: cutAt(limit),
        });
      }
      for (const toolCallDelta of toolCalls) onChunk({ toolCallDelta });
      return { content, toolCalls, cut };
    },
  });
}

/** An answer is stopped when a tail of so many characters repeats one unit at least so often. */
const REPETITIONS = [{ characters: 512, times: 8 }, { characters: 2_400, times: 4 }] as const;
/** Characters between two checks for repetition. */
const CHECK_EVERY = 64;

/** The unit that the end of a text repeats; undefined if none. */
function repeatedIn(text: string): string | undefined {
  for (const { characters, times } of REPETITIONS) {
    if (text.length < characters) return undefined;
    const tail = text.slice(-characters);
    // KMP failure function: for each prefix of the tail, the length of its longest border.
    const borders = new Uint16Array(characters);
    let border = 0;
    for (let at = 1; at < characters; at++) {
      while (border > 0 && tail[at] !== tail[border]) border = borders[border - 1] ?? 0;
      if (tail[at] === tail[border]) border++;
      borders[at] = border;
    }
    const unit = characters - border;
    if (unit * times <= characters) return tail.slice(0, unit);
  }
  return undefined;
}

function repeatsItself(unit: string): Fault {
  const shown = unit.replaceAll(/\s+/g, " ").trim().slice(0, 60).toWellFormed();
  return new Fault(
    "upstream",
    `Cannot go on: the model repeats itself (${
      JSON.stringify(shown)
    }, again and again) and was stopped; ` +
      "ask in other words, give it a temperature, or take a larger model",
    // The same request would have the same result.
    { detail: { repeats: true, tried: true } },
  );
}

/** The grammar admits only valid calls; this check does not rely on it. */
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
