/** Assembles a provider's stream into chunks and one response, within limits. TRUST: from the provider. @module */
import { Fault } from "../../contracts/base/fault.ts";
import {
  ECHO_LIMIT,
  MAX_CALLS,
  MAX_PROPOSED,
  MESSAGE_LIMIT,
  type ToolCall,
  type Unmade,
} from "../../contracts/model/chat.ts";
import type { FinishReason, StreamChunk } from "../../contracts/model/model.ts";
import { inPieces, type StreamText } from "./redact/scrub.ts";
import { again } from "./retry.ts";
import type { ToolNames } from "./advertised.ts";
import { CallId } from "../../contracts/authority/ids.ts";

const CHUNK_CHARS = 65_536;
/** Characters kept of the arguments of a call that is not made, enough to recognise it. */
export const UNMADE_CHARS = 2_000;
const CHARS_A_TOKEN = 4;

interface AssembleParts {
  readonly onChunk: (chunk: StreamChunk) => void;
  readonly names: Pick<ToolNames, "own">;
  /** Ids of the calls in the conversation. */
  readonly knownIds: Iterable<string>;
  /** Makes a filter that joins pieces and removes the credential. See {@link Endpoint.streamText}. */
  readonly streamText: () => StreamText;
  /** The requested token limit, at which an answer is cut. */
  readonly maxTokens: number;
  /** Parses calls and thoughts in the text; absent: text is text. */
  readonly dialect?: TextDialect | undefined;
}

/** Parses streamed text. */
export interface TextDialect {
  text(delta: string): readonly DialectOut[];
  end(): readonly DialectOut[];
}

/** Meaning of a piece of text. */
type DialectOut =
  | { readonly text: string }
  | { readonly rationale: string }
  | {
    readonly call: {
      readonly name: string;
      readonly arguments: string;
      /** The closing marker was written, so the call is complete even in a cut answer. */
      readonly closed?: boolean;
      /** Why the call is invalid. */
      readonly wrong?: string;
    };
  };

/** A whole answer. */
export interface Assembled {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  /** As the provider counted; absent if it did not. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cacheReadTokens: number | undefined;
  readonly cacheWriteTokens: number | undefined;
  readonly finishReason: FinishReason;
}

/** Takes the deltas of one answer in order. */
export interface Assembler {
  /** Throws `upstream` past a limit, or for a stream that contradicts itself. */
  take(delta: Delta): void;
  /** `more`: calls found in the finished text. Throws `upstream` if the stream ended without a finish. */
  end(more?: readonly DialectOut[]): Assembled;
  /** Whether a chunk was passed on. */
  readonly begun: () => boolean;
  /** Tokens spent on an answer that broke off, as counted by the provider or estimated from its text. */
  readonly cost: () => { readonly inputTokens?: number; readonly outputTokens: number };
}

interface OpenCall {
  readonly id: ToolCall["id"];
  readonly name: string;
  arguments: string;
  echo: string;
  readonly stream: StreamText;
  unmade: Unmade | undefined;
  /** Whether the call was complete when the answer went on. */
  closed: boolean;
}

/** Makes an assembler of one answer. */
export function makeAssembler(parts: AssembleParts): Assembler {
  const ids = makeCallIds(parts.knownIds);
  const calls = new Map<string, OpenCall>();
  const beyond = new Set<string>();
  const texts = { textDelta: parts.streamText(), rationale: parts.streamText() };
  let content = "";
  let thought = 0;
  let usage: Omit<Extract<Delta, { kind: "usage" }>, "kind"> = {};
  let finish: FinishReason | undefined;
  let begun = false;
  let made = 0;
  /** Calls beyond the limit of a message. */
  let dropped = 0;
  let overlong = false;

  const emit = (chunk: StreamChunk): void => {
    begun = true;
    parts.onChunk(chunk);
  };
  const say = (field: "textDelta" | "rationale", whole: string): void => {
    if (whole === "") return;
    const room = MESSAGE_LIMIT - (field === "textDelta" ? content.length : thought);
    const kept = whole.length <= room ? whole : whole.slice(0, room).toWellFormed();
    // Text beyond the limit of a message is dropped, and the answer counts as cut.
    if (field === "textDelta" && kept !== whole) overlong = true;
    if (field === "textDelta") content += kept;
    else thought += kept.length;
    for (const piece of inPieces(kept, CHUNK_CHARS)) emit({ [field]: piece });
  };
  const whole = (said: string): string => {
    const stream = parts.streamText();
    return stream.push(said) + stream.end();
  };
  const text = (field: "textDelta" | "rationale", delta: string): void =>
    say(field, texts[field].push(delta));

  const start = (key: string, id: string | undefined, wire: string): void => {
    if (calls.has(key)) throw broken("begins a call twice");
    if (calls.size === MAX_PROPOSED) {
      dropped += 1;
      return void beyond.add(key);
    }
    const call: OpenCall = {
      id: ids.next(id === undefined ? undefined : whole(id)),
      name: whole(parts.names.own(wire)).slice(0, 128),
      arguments: "",
      echo: "",
      stream: parts.streamText(),
      unmade: calls.size < MAX_CALLS ? undefined : SURPLUS,
      closed: false,
    };
    calls.set(key, call);
    emit({ toolCallDelta: { id: call.id, name: call.name } });
  };
  const argue = (key: string, delta: string): void => {
    const call = calls.get(key);
    if (beyond.has(key)) return;
    if (call === undefined) throw broken("goes on with a call that it did not begin");
    give(call, call.stream.push(delta));
  };
  /** A longer echo is dropped; the provider reports a missing one. */
  const echo = (key: string, said: string): void => {
    const call = calls.get(key);
    if (call !== undefined && said.length <= ECHO_LIMIT) call.echo = whole(said);
  };
  const give = (call: OpenCall, whole: string): void => {
    if (whole === "" || call.arguments.length > MESSAGE_LIMIT) return;
    call.arguments += whole;
    if (call.arguments.length > MESSAGE_LIMIT) call.unmade = TOO_LONG;
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
        const call = calls.get(key);
        if (call === undefined) continue;
        call.closed = out.call.closed === true;
        if (out.call.wrong !== undefined) call.unmade ??= unreadable(out.call.wrong);
      }
    }
  };

  return Object.freeze<Assembler>({
    begun: () => begun,
    cost() {
      const said = [...calls.values()].reduce((sum, call) => sum + call.arguments.length, 0);
      const written = Math.ceil((content.length + thought + said) / CHARS_A_TOKEN);
      const inputTokens = count(usage.inputTokens);
      return {
        ...(inputTokens === undefined ? {} : { inputTokens }),
        outputTokens: Math.max(count(usage.outputTokens) ?? 0, written),
      };
    },
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
    end(more = []) {
      if (finish === undefined) throw broken("breaks off before its end");
      read([...parts.dialect?.end() ?? [], ...more]);
      say("textDelta", texts.textDelta.end());
      say("rationale", texts.rationale.end());
      const reason = overlong ? "length" : finish;
      const lastCall = [...calls.values()].at(-1);
      // A server may have closed a call that its limit cut: the last call of a cut answer is not made.
      if (reason === "length" && lastCall?.closed === false) {
        lastCall.unmade = cutAt(parts.maxTokens);
      }
      if (dropped > 0 && lastCall !== undefined) lastCall.unmade = surplus(dropped);
      for (const call of calls.values()) {
        give(call, call.stream.end());
        // Providers write no arguments as nothing, or as `null`.
        if (call.unmade === undefined && /^\s*(?:"?null"?\s*)?$/.test(call.arguments)) {
          call.arguments = "";
          give(call, "{}");
        }
      }
      const toolCalls = [...calls.values()].map(
        ({ id, name, arguments: args, echo, unmade }): ToolCall => ({
          id,
          name,
          arguments: unmade === undefined ? args : args.slice(0, UNMADE_CHARS).toWellFormed(),
          ...(echo === "" ? {} : { echo }),
          ...(unmade === undefined ? {} : { unmade }),
        }),
      );
      return {
        content,
        toolCalls,
        inputTokens: count(usage.inputTokens),
        outputTokens: count(usage.outputTokens),
        cacheReadTokens: count(usage.cacheReadTokens),
        cacheWriteTokens: count(usage.cacheWriteTokens),
        finishReason: reasonOf(reason, toolCalls.length > 0),
      };
    },
  });
}

/** Servers differ in the finish reason of an answer with calls. */
function reasonOf(reason: FinishReason, calls: boolean): FinishReason {
  if (reason === "stop" && calls) return "toolCalls";
  return reason === "toolCalls" && !calls ? "stop" : reason;
}

function count(tokens: number | undefined): number | undefined {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined;
}

const NOT_MADE = "Cannot make this call:";
const SURPLUS = surplus(0);
const TOO_LONG: Unmade = {
  kind: "unreadable",
  why:
    `${NOT_MADE} its arguments have more than ${MESSAGE_LIMIT} characters; write in smaller pieces`,
};

function surplus(more: number): Unmade {
  const others = more === 0 ? "" : `, nor were ${more} more`;
  return {
    kind: "surplus",
    why:
      `${NOT_MADE} too many at once; the first ${MAX_CALLS} of your answer were made, this one ` +
      `was not${others}. Make it again in your next answer, if it is still needed`,
  };
}

/** Why the call at the end of a cut answer is not made. */
export function cutAt(tokens: number): Unmade {
  return {
    kind: "cut",
    why:
      `${NOT_MADE} your answer was cut at its limit of ${tokens} tokens, within this call or at its end, so ` +
      "that it may be incomplete. Nothing of it was done. Write in smaller pieces: a part of the file or of the " +
      "program in each call",
  };
}

function unreadable(why: string): Unmade {
  return { kind: "unreadable", why: `${NOT_MADE} it cannot be read: ${why}`.slice(0, 1_000) };
}

function broken(why: string): Fault {
  return new Fault("upstream", `Cannot infer: the provider's answer ${why}`, { detail: again() });
}

/** Allocates unused call ids. */
interface CallIds {
  next(asked: string | undefined): CallId;
}

/** Makes an allocator that avoids the ids in `known`. */
export function makeCallIds(known: Iterable<string>): CallIds {
  const taken = new Set(known);
  let made = 0;
  const unused = (): CallId => {
    for (;;) {
      const id = CallId.parse(`call_${++made}`);
      if (!taken.has(id)) return id;
    }
  };
  return Object.freeze<CallIds>({
    next(asked) {
      const parsed = CallId.safeParse(asked);
      const id = parsed.success && !taken.has(parsed.data) ? parsed.data : unused();
      taken.add(id);
      return id;
    },
  });
}

// Provider-independent stream events.

/** A piece of an answer. `key` identifies a call within one answer. */
export type Delta =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "rationale"; readonly text: string }
  | {
    readonly kind: "callStart";
    readonly key: string;
    /** The provider's id; absent or invalid: one is made. */
    readonly id?: string | undefined;
    /** The wire name. */
    readonly name: string;
  }
  | { readonly kind: "callDelta"; readonly key: string; readonly text: string }
  /** Opaque data of a call that the provider wants back with it. */
  | { readonly kind: "callEcho"; readonly key: string; readonly echo: string }
  /** Total tokens so far; later values replace earlier ones. */
  | {
    readonly kind: "usage";
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    /** Part of the input tokens. */
    readonly cacheReadTokens?: number;
    readonly cacheWriteTokens?: number;
  }
  | { readonly kind: "finish"; readonly reason: FinishReason };
