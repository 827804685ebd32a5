/** Language models and embedders over any engine that runs a GGUF file. @module */
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

/** Parts of a model beside its engine. */
export interface GgufParts {
  readonly header: GgufHeader;
  readonly settings: LocalSettings;
  /** Replaces the template in the weights. */
  readonly template?: ChatTemplate | undefined;
  /** `backend` of {@link ModelInfo}: `gguf-wasm`, `gguf-native`, `gguf-cuda`, `gguf-vulkan`. */
  readonly backend: string;
}

/** Default context: the cache of so many tokens fits in memory of about the weights' size. */
const CONTEXT_TOKENS = 32_768;
const MIN_CONTEXT_TOKENS = 2_048;
/** The kernel grants an engine this much memory, or the size of its weights, for the KV cache. */
const MIN_CACHE_BYTES = 268_435_456;
/** Share of that memory for the cache; the rest is for computation. */
const CACHE_SHARE = 0.75;
/** Bytes per cached number: 16-bit floats. */
const CACHE_NUMBER_BYTES = 2;
/**
 * Characters of a string argument without `maxLength`: a page of a file. The grammar does not grow with it,
 * since repetitions are nested blocks.
 */
const TEXT_LENGTH = 4_096;
/** llama.cpp's value for a random seed. */
const ANY_SEED = 4_294_967_295;

/** Options that force exactly one call. */
const ONE_CALL = { mustCall: true, preamble: false, calls: 1 };
/** Progress is reported only for longer inputs. */
const MIN_PROGRESS_TOKENS = 64;

/** One completion, and the fault that stopped it, if any. */
interface Attempt {
  readonly answered: AnsweredText;
  readonly end: EngineEnd;
  readonly stopped?: Fault;
}

/** Size of the context for an engine, in tokens. */
export function contextTokensOf({ header, settings }: Omit<GgufParts, "backend">): number {
  if (settings.contextTokens !== undefined) {
    return Math.min(settings.contextTokens, header.contextTokens);
  }
  const room = CACHE_SHARE * Math.max(MIN_CACHE_BYTES, settings.bytes);
  const fitting = room / (header.layers * header.kept * CACHE_NUMBER_BYTES);
  const whole = Math.floor(fitting / MIN_CONTEXT_TOKENS) * MIN_CONTEXT_TOKENS;
  const max = Math.min(CONTEXT_TOKENS, Math.max(MIN_CONTEXT_TOKENS, whole));
  return Math.min(max, header.contextTokens);
}

/** The digest of the weights identifies the model. */
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
 * Makes a language model that runs one inference at a time, in order of arrival. A grammar of the advertised
 * tools makes every call well-formed. Without a temperature decoding is greedy: the same request has the same
 * answer, which replays and agents rely on.
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
  ): Promise<Attempt> {
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
          if (reading.total > MIN_PROGRESS_TOKENS && !signal.aborted) onChunk({ reading });
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

/** A queue of asynchronous work. */
interface InTurn {
  /**
   * Runs `work` after all earlier work. Rejects with `cancelled` as soon as the signal aborts, also while
   * queued; the next work starts only when this one has really ended.
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
          // Cancelled in the queue: the work does not start.
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

/** Inserted into a control token, which is then plain text. The character is invisible. */
const BREAK = "\u2060";

/**
 * Makes a function that breaks every occurrence of `controls` in a text. Otherwise a page with
 * `<|im_start|>system` in it would open a system message.
 */
export function makePlainText(controls: readonly string[]): (text: string) => string {
  // Longest first: one token may be a prefix of another.
  const marks = [...new Set(controls)].filter((mark) => mark.length > 1)
    .sort((a, b) => b.length - a.length);
  if (marks.length === 0) return (text) => text;
  const pattern = new RegExp(marks.map(RegExp.escape).join("|"), "g");
  return (text) => text.replace(pattern, (mark) => mark.slice(0, 1) + BREAK + mark.slice(1));
}

/** A text that is too long is cut to this share of the limit and tried again. */
const RETRY_SHARE = 0.95;
const MAX_TRIES = 8;

/** Makes an embedder on any engine: one text at a time, in order of arrival. */
export function makeGgufEmbedder(engine: Pick<Engine, "embed">, parts: GgufParts): TextEmbedder {
  const base = ggufInfo(parts);
  const info = { ...base, outputTokens: parts.header.width, supportsTools: false, knobs: [] };
  const turn = makeInTurn();

  async function vectorOf(text: string): Promise<Awaited<ReturnType<typeof engine.embed>>> {
    let cut = text;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      try {
        return await engine.embed(cut);
      } catch (error) {
        const tokens = error instanceof Fault ? error.detail?.["tokens"] : undefined;
        if (typeof tokens !== "number") throw error;
        const share = Math.min(RETRY_SHARE, RETRY_SHARE * info.contextTokens / tokens);
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
