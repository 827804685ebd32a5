/** From a provider's stream to chunks and one response, within limits. TRUST: from the provider. @module */
import { Fault } from "../../contracts/fault.ts";
import { ECHO_LIMIT, MESSAGE_LIMIT, type ToolCall } from "../../contracts/chat.ts";
import type { FinishReason, StreamChunk } from "../../contracts/model.ts";
import { makeCallIds } from "./call_ids.ts";
import type { Delta } from "./answer/delta.ts";
import { inPieces, type StreamText } from "./answer/stream_text.ts";
import type { ToolNames } from "./tool_names.ts";

/** Most calls of one answer: what a message can hold. */
export const MOST_CALLS = 64;
const CHUNK_CHARS = 65_536;

/** What an answer is put together with. */
export interface AssembleParts {
  readonly onChunk: (chunk: StreamChunk) => void;
  readonly names: Pick<ToolNames, "own">;
  /** Ids of calls that the conversation holds. */
  readonly knownIds: Iterable<string>;
  /** Joins pieces, and takes the credential out. See {@link Endpoint.streamText}. */
  readonly streamText: () => StreamText;
  /** Reads calls and thoughts that stand in the text; absent: text is text. */
  readonly dialect?: TextDialect | undefined;
}

/** Text in, what it means out. */
export interface TextDialect {
  text(delta: string): readonly DialectOut[];
  end(): readonly DialectOut[];
}

/** What a piece of text was. */
export type DialectOut =
  | { readonly text: string }
  | { readonly rationale: string }
  | { readonly call: { readonly name: string; readonly arguments: string } };

/** A whole answer. */
export interface Assembled {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  /** As the provider counted; absent: it did not. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cacheReadTokens: number | undefined;
  readonly cacheWriteTokens: number | undefined;
  readonly finishReason: FinishReason;
}

/** Takes deltas, in their order, and then ends. */
export interface Assembler {
  /** Throws `upstream` past a limit or for a stream that contradicts itself. */
  take(delta: Delta): void;
  /** Throws `upstream` when the stream broke off: no finish came. */
  end(): Assembled;
  /** True once something was given on. */
  readonly begun: () => boolean;
}

interface OpenCall {
  readonly id: ToolCall["id"];
  readonly name: string;
  arguments: string;
  echo: string;
  readonly stream: StreamText;
}

/** Makes an assembler of one answer. */
export function makeAssembler(parts: AssembleParts): Assembler {
  const ids = makeCallIds(parts.knownIds);
  const calls = new Map<string, OpenCall>();
  const texts = { textDelta: parts.streamText(), rationale: parts.streamText() };
  let content = "";
  let thought = 0;
  let usage: Omit<Extract<Delta, { kind: "usage" }>, "kind"> = {};
  let finish: FinishReason | undefined;
  let begun = false;
  let made = 0;

  const emit = (chunk: StreamChunk): void => {
    begun = true;
    parts.onChunk(chunk);
  };
  const say = (field: "textDelta" | "rationale", whole: string): void => {
    if (whole === "") return;
    if (field === "textDelta") content += whole;
    else thought += whole.length;
    if (content.length > MESSAGE_LIMIT || thought > MESSAGE_LIMIT) throw tooLong("text");
    for (const piece of inPieces(whole, CHUNK_CHARS)) emit({ [field]: piece });
  };
  const whole = (said: string): string => {
    const stream = parts.streamText();
    return stream.push(said) + stream.end();
  };
  const text = (field: "textDelta" | "rationale", delta: string): void =>
    say(field, texts[field].push(delta));

  const start = (key: string, id: string | undefined, wire: string): void => {
    if (calls.has(key)) throw broken("begins a call twice");
    if (calls.size === MOST_CALLS) throw broken(`makes more than ${MOST_CALLS} calls`);
    const call: OpenCall = {
      id: ids.next(id === undefined ? undefined : whole(id)),
      name: whole(parts.names.own(wire)).slice(0, 128),
      arguments: "",
      echo: "",
      stream: parts.streamText(),
    };
    calls.set(key, call);
    emit({ toolCallDelta: { id: call.id, name: call.name } });
  };
  const argue = (key: string, delta: string): void => {
    const call = calls.get(key);
    if (call === undefined) throw broken("goes on with a call that it did not begin");
    give(call, call.stream.push(delta));
  };
  /** One that is too long to keep is not: the provider says what it makes of that. */
  const echo = (key: string, said: string): void => {
    const call = calls.get(key);
    if (call !== undefined && said.length <= ECHO_LIMIT) call.echo = whole(said);
  };
  const give = (call: OpenCall, whole: string): void => {
    if (whole === "") return;
    call.arguments += whole;
    if (call.arguments.length > MESSAGE_LIMIT) throw tooLong("arguments");
    for (const piece of inPieces(whole, CHUNK_CHARS)) {
      emit({ toolCallDelta: { id: call.id, arguments: piece } });
    }
  };
  const read = (outs: readonly DialectOut[]): void => {
    for (const out of outs) {
      if ("text" in out) text("textDelta", out.text);
      else if ("rationale" in out) text("rationale", out.rationale);
      else {
        const key = `in the text ${made++}`;
        start(key, undefined, out.call.name);
        argue(key, out.call.arguments);
      }
    }
  };

  return Object.freeze<Assembler>({
    begun: () => begun,
    take(delta) {
      switch (delta.kind) {
        case "text":
          if (parts.dialect === undefined) text("textDelta", delta.text);
          else read(parts.dialect.text(delta.text));
          return;
        case "rationale":
          return text("rationale", delta.text);
        case "callStart":
          return start(delta.key, delta.id, delta.name);
        case "callDelta":
          return argue(delta.key, delta.text);
        case "callEcho":
          return echo(delta.key, delta.echo);
        case "usage":
          usage = { ...usage, ...delta };
          return;
        case "finish":
          finish = delta.reason;
      }
    },
    end() {
      if (finish === undefined) throw broken("breaks off before its end");
      read(parts.dialect?.end() ?? []);
      say("textDelta", texts.textDelta.end());
      say("rationale", texts.rationale.end());
      const lastCall = [...calls.values()].at(-1);
      for (const call of calls.values()) {
        give(call, call.stream.end());
        // No arguments at all is how providers write none, unless the answer was cut before they came.
        const cut = finish === "length" && call === lastCall;
        if (call.arguments.trim() === "" && !cut) give(call, "{}");
      }
      const toolCalls = [...calls.values()].map(({ id, name, arguments: args, echo }) => ({
        id,
        name,
        arguments: args,
        ...(echo === "" ? {} : { echo }),
      }));
      return {
        content,
        toolCalls,
        inputTokens: count(usage.inputTokens),
        outputTokens: count(usage.outputTokens),
        cacheReadTokens: count(usage.cacheReadTokens),
        cacheWriteTokens: count(usage.cacheWriteTokens),
        finishReason: reasonOf(finish, toolCalls.length > 0),
      };
    },
  });
}

/** Servers differ in what they say of an answer with calls. */
function reasonOf(reason: FinishReason, calls: boolean): FinishReason {
  if (reason === "stop" && calls) return "toolCalls";
  return reason === "toolCalls" && !calls ? "stop" : reason;
}

function count(tokens: number | undefined): number | undefined {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined;
}

function tooLong(what: string): Fault {
  return broken(`has ${what} of more than ${MESSAGE_LIMIT} characters`);
}

function broken(why: string): Fault {
  return new Fault("upstream", `Cannot infer: the provider's answer ${why}`);
}
