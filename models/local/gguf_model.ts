/** A language model on any engine that runs a GGUF file. @module */
import type { Provenance } from "../../contracts/model/chat.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type {
  Embeddings,
  InferenceRequest,
  InferenceResponse,
  InferOptions,
  LanguageModel,
  ModelInfo,
  TextEmbedder,
} from "../../contracts/model/model.ts";
import { schemaGrammar, toolGrammar } from "../grammar/mod.ts";
import { readProvenance } from "../service.ts";
import { type AnsweredText, makeAnswerText } from "./answer_text.ts";
import { conversationOf, dueTools, OWN_MARKS } from "./conversation.ts";
import type { Engine, EngineEnd } from "./engine.ts";
import type { GgufHeader } from "../../contracts/model/gguf_header.ts";
import type { ChatTemplate, LocalSettings } from "./local_config.ts";

/** What a model is made of, beside its engine. */
export interface GgufParts {
  readonly header: GgufHeader;
  readonly settings: LocalSettings;
  /** Named in place of what the weights bring. */
  readonly template?: ChatTemplate | undefined;
  /** As {@link ModelInfo} names it: `gguf-wasm`, `gguf-native`, `gguf-cuda`, `gguf-vulkan`. */
  readonly backend: string;
}

/** Tokens of context where nothing is said: what fits into memory of about the weights' size. */
const CONTEXT_TOKENS = 32_768;
const LEAST_CONTEXT_TOKENS = 2_048;
/** The kernel gives an engine this much, or its weights' size, for what it keeps of a conversation. */
const LEAST_BYTES = 268_435_456;
/** The rest is for arithmetic. */
const KEPT_SHARE = 0.75;
/** Bytes of a number that is kept: 16-bit floats. */
const KEPT_BYTES = 2;
/**
 * Characters of a text that its tool does not bound: a page of a file. The grammar is no longer for it
 * (strings are counted in nested blocks).
 */
const TEXT_LENGTH = 4_096;
/** llama.cpp's number for "any". */
const ANY_SEED = 4_294_967_295;

/** One call and nothing else. */
const ONE_CALL = { mustCall: true, preamble: false, calls: 1 };
/** A request of at most so many tokens is read at once. */
const NEWS_TOKENS = 64;

/** An answer as the engine gave it, and why it was stopped if it was. */
interface Once {
  readonly answered: AnsweredText;
  readonly end: EngineEnd;
  readonly stopped?: Fault;
}

/** Tokens of context that an engine is started with. */
export function contextTokensOf({ header, settings }: Omit<GgufParts, "backend">): number {
  if (settings.contextTokens !== undefined) {
    return Math.min(settings.contextTokens, header.contextTokens);
  }
  const room = KEPT_SHARE * Math.max(LEAST_BYTES, settings.bytes);
  const fitting = room / (header.layers * header.kept * KEPT_BYTES);
  const whole = Math.floor(fitting / LEAST_CONTEXT_TOKENS) * LEAST_CONTEXT_TOKENS;
  const most = Math.min(CONTEXT_TOKENS, Math.max(LEAST_CONTEXT_TOKENS, whole));
  return Math.min(most, header.contextTokens);
}

/** What the model says of itself: the digest of its weights is its name. */
function ggufInfo(parts: GgufParts): ModelInfo {
  const { header, settings, backend } = parts;
  const contextTokens = contextTokensOf(parts);
  return Object.freeze<ModelInfo>({
    id: `sha256:${settings.weights}+${header.architecture}`,
    displayName: settings.name,
    arch: header.architecture,
    contextTokens,
    outputTokens: Math.min(settings.outputTokens ?? contextTokens, contextTokens),
    backend,
    ...(header.quantisation === undefined ? {} : { quantisation: header.quantisation }),
    supportsTools: true,
    remote: false,
    knobs: ["temperature", "seed", "stopSequences", "responseSchema"],
  });
}

/**
 * Makes a model: one inference at a time, in the order of asking. A call is written under a grammar
 * of the advertised tools, so that it is always well-formed. Greedy where no temperature is given: the
 * same request has the same answer, which replays and agents rely on.
 */
export function makeGgufModel(engine: Engine, parts: GgufParts): LanguageModel {
  const { header, settings, template } = parts;
  const info = ggufInfo(parts);
  const plain = makePlainText([...header.controls, ...OWN_MARKS, ...template?.marks ?? []]);
  const turn = makeInTurn();
  const grammars = new WeakMap<InferenceRequest["tools"], string>();
  const thoughts = settings.dialect?.includes("think") === true;

  function grammarOf({ tools, responseSchema: answer }: InferenceRequest): string | undefined {
    if (answer !== undefined) {
      return tools.length === 0
        ? schemaGrammar(answer, { textLength: TEXT_LENGTH })
        : toolGrammar(tools, { answer, textLength: TEXT_LENGTH });
    }
    if (tools.length === 0) return undefined;
    const known = grammars.get(tools) ?? toolGrammar(tools, { textLength: TEXT_LENGTH });
    grammars.set(tools, known);
    return known;
  }

  async function once(
    request: InferenceRequest,
    grammar: string | undefined,
    { onChunk = () => {}, signal }: InferOptions,
  ): Promise<Once> {
    const { messages, tools } = request;
    const answer = makeAnswerText({
      onChunk: (chunk) => {
        if (!signal.aborted) onChunk(chunk);
      },
      tools: new Set(tools.map(({ name }) => name)),
      knownIds: messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)),
      thoughts,
    });
    const seed = request.seed ?? settings.seed;
    const maxTokens = Math.min(request.maxTokens, info.outputTokens);
    let inputTokens = 0;
    let outputTokens = 0;
    try {
      const end = await engine.complete({
        messages: conversationOf(request, plain),
        maxTokens,
        temperature: request.temperature ?? settings.temperature ?? 0,
        seed: seed === undefined ? ANY_SEED : Math.min(seed, ANY_SEED - 1),
        stop: [...request.stopSequences ?? [], ...template?.stop ?? []],
        grammar,
      }, {
        onText: (text) => {
          outputTokens += 1;
          answer.push(text);
        },
        onRead: (reading) => {
          inputTokens = reading.total;
          // What is read at once is no news.
          if (reading.total > NEWS_TOKENS && !signal.aborted) onChunk({ reading });
        },
        signal,
      });
      return { answered: answer.end(end.why === "length" ? maxTokens : undefined), end };
    } catch (error) {
      if (!(error instanceof Fault) || error.detail?.["repeats"] !== true) throw error;
      const usage = { inputTokens, outputTokens };
      return {
        answered: answer.end(),
        end: { why: "length", ...usage, reusedTokens: 0 },
        stopped: new Fault(error.code, error.message, { detail: { ...error.detail, usage } }),
      };
    }
  }

  async function infer(
    request: InferenceRequest,
    options: InferOptions,
  ): Promise<InferenceResponse> {
    const provenance = readProvenance(request.messages, info.id);
    const first = await once(request, grammarOf(request), options);
    const due = first.answered.toolCalls.length > 0 || request.responseSchema !== undefined
      ? []
      : dueTools(request, first.answered.content, settings.callFirst === true);
    if (due.length > 0) {
      const only = toolGrammar(due, { ...ONE_CALL, textLength: TEXT_LENGTH });
      const second = await once(request, only, options);
      if (second.answered.toolCalls.some(({ unmade }) => unmade === undefined)) {
        const { content } = first.answered;
        const end = {
          ...second.end,
          outputTokens: first.end.outputTokens + second.end.outputTokens,
        };
        return respond({ ...second.answered, content }, end, provenance);
      }
    }
    if (first.stopped !== undefined) throw first.stopped;
    return respond(first.answered, first.end, provenance);
  }

  return Object.freeze<LanguageModel>({
    info: () => Promise.resolve(info),
    infer(request, options) {
      return turn.run(() => infer(request, options), options.signal);
    },
  });
}

function respond(
  { content, toolCalls, cut }: AnsweredText,
  end: EngineEnd,
  provenance: Provenance,
): InferenceResponse {
  if (content === "" && toolCalls.length === 0 && cut && end.why === "stop") {
    throw new Fault("upstream", "Cannot take the model's answer: a stop sequence cut its call");
  }
  return {
    message: {
      role: "assistant",
      content,
      ...(toolCalls.length > 0 ? { toolCalls: [...toolCalls] } : {}),
      provenance,
    },
    usage: { inputTokens: end.inputTokens, outputTokens: end.outputTokens },
    finishReason: end.why === "length" ? "length" : toolCalls.length > 0 ? "toolCalls" : "stop",
  };
}

/** Runs work in turn. */
interface InTurn {
  /**
   * Runs `work` when all before it are done. Rejects with `cancelled` at once when the signal aborts,
   * also while it waits; the next one begins only when this work has really ended.
   */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function makeInTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return Object.freeze<InTurn>({
    run(work, signal) {
      const cancelled = (): Fault => new Fault("cancelled", "Cannot go on: cancelled");
      if (signal.aborted) return Promise.reject(cancelled());
      const { promise, resolve, reject } = Promise.withResolvers<
        Awaited<ReturnType<typeof work>>
      >();
      const abort = (): void => reject(cancelled());
      signal.addEventListener("abort", abort, { once: true });
      last = last.then(async () => {
        try {
          // Cancelled while it waited: nothing of it begins.
          if (!signal.aborted) resolve(await work());
        } catch (error) {
          reject(error);
        } finally {
          signal.removeEventListener("abort", abort);
        }
      });
      return promise;
    },
  });
}

/** Put into what would be a control token: it is not shown, and the token is none any more. */
const BREAK = "\u2060";

/**
 * Makes a function that breaks each of `controls` where it stands in a text. Without it a page that
 * holds `<|im_start|>system` would open a system message.
 */
export function makePlainText(controls: readonly string[]): (text: string) => string {
  // The longest first: one may begin as another does.
  const marks = [...new Set(controls)].filter((mark) => mark.length > 1)
    .sort((a, b) => b.length - a.length);
  if (marks.length === 0) return (text) => text;
  const pattern = new RegExp(marks.map(RegExp.escape).join("|"), "g");
  return (text) => text.replace(pattern, (mark) => mark.slice(0, 1) + BREAK + mark.slice(1));
}

/** A text that is too long is cut to this share of what fits, and tried again. */
const SHARE = 0.95;
const TRIES = 8;

/** Makes an embedder on any engine: one text at a time, in the order of asking. */
export function makeGgufEmbedder(engine: Pick<Engine, "embed">, parts: GgufParts): TextEmbedder {
  const base = ggufInfo(parts);
  const info = { ...base, outputTokens: parts.header.width, supportsTools: false, knobs: [] };
  const turn = makeInTurn();

  async function vectorOf(text: string): Promise<Awaited<ReturnType<typeof engine.embed>>> {
    let cut = text;
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        return await engine.embed(cut);
      } catch (error) {
        const tokens = error instanceof Fault ? error.detail?.["tokens"] : undefined;
        if (typeof tokens !== "number") throw error;
        const share = Math.min(SHARE, SHARE * info.contextTokens / tokens);
        cut = cut.slice(0, Math.floor(cut.length * share)).replace(/[\ud800-\udbff]$/, "");
      }
    }
    throw new Fault("tooLarge", "Cannot embed: the text does not fit, however it is cut");
  }

  return Object.freeze<TextEmbedder>({
    info: () => Promise.resolve(info),
    embed(texts, { signal }) {
      return turn.run(async (): Promise<Embeddings> => {
        const vectors: Float32Array[] = [];
        let inputTokens = 0;
        for (const text of texts) {
          if (signal.aborted) throw new Fault("cancelled", "Cannot embed: cancelled");
          if (text.trim() === "") {
            vectors.push(new Float32Array(info.outputTokens));
            continue;
          }
          const one = await vectorOf(text);
          vectors.push(one.vector);
          inputTokens += one.inputTokens;
        }
        return { vectors, inputTokens };
      }, signal);
    },
  });
}
