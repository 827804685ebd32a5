/**
 * llama.cpp's native engine: weights mapped and shared, the KV cache of several prompt prefixes kept.
 *
 * The cache never changes an answer. Where a prompt is cut into blocks follows from its tokens alone, and
 * only whole blocks of a prompt are cached, never tokens decoded one by one: the same arithmetic in the same
 * order, whether a block is computed now or was before. While the engine is idle, it reads its last answer as
 * a block of the next prompt. Used by open.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { Engine, EngineEnd, EngineOptions, EngineRequest } from "../local/engine.ts";
import type { Addon, AddonContext, AddonModel, AddonSampler } from "./addon.ts";
import { partAtEnd } from "../remote/dialect/mod.ts";
import { BLOCK, blockEnds, makePrefixes, type Place } from "./prefixes.ts";

/** Options of a native engine. */
interface NativeOptions extends Pick<EngineOptions, "contextTokens" | "thoughts" | "embedding"> {
  /** Path of the weights. */
  readonly weights: string;
  /** Chat template (Jinja). */
  readonly template: string;
  /** Prompt prefixes to cache, each with room for a whole context. At least 1. */
  readonly sequences: number;
  /** Layers computed on the GPU; 0 for a build without one. */
  readonly gpuLayers: number;
  /** llama.cpp's last error, if any. */
  readonly complaint: () => string | undefined;
  /** Receives a function that stops the idle reading and resolves when it has stopped. */
  readonly stops?: ((stop: () => Promise<void>) => void) | undefined;
}

/**
 * Half the cores: llama.cpp's threads spin while they wait for each other, and on a busy machine one thread
 * without a core delays all (measured: 9 tokens/s with two threads on two busy cores, 2,970 with one).
 */
const SHARE_OF_CORES = 0.5;
const MAX_THREADS = 8;

/** Advice when the GPU's memory is too small. */
const MEMORY_ADVICE =
  '; fewer "gpuLayers" or fewer "contextTokens" for this model in remit.yaml may fit';

/** Starts the engine. Rejects with `invalidInput` for weights that llama.cpp refuses. */
export async function startNative(addon: Addon, options: NativeOptions): Promise<Engine> {
  const { weights, contextTokens, sequences, gpuLayers, thoughts, embedding, complaint } = options;
  const failed = (doing: string): Fault => {
    const why = (complaint() ?? "the engine does not say why").slice(0, 300);
    const full = gpuLayers > 0 && /alloc|memory/i.test(why) ? MEMORY_ADVICE : "";
    return new Fault("invalidInput", `Cannot ${doing}: ${why}${full}`);
  };
  const model = new addon.AddonModel(weights, {
    addonExports: addon,
    gpuLayers,
    useMmap: true,
    vocabOnly: false,
  });
  if (!await succeeds(() => model.init())) throw failed("load the model");
  const context = new addon.AddonContext(model, {
    contextSize: contextTokens * sequences,
    // A vector is computed over a whole text at once.
    batchSize: embedding ? contextTokens : BLOCK,
    embeddings: embedding,
    sequences,
    threads: threadsOf(addon),
    swaFullCache: true,
  });
  if (!await succeeds(() => context.init())) throw failed("make room for the conversation");
  const renderer = embedding ? undefined : new addon.AddonJinjaRenderer(options.template);
  const prefixes = makePrefixes(sequences);

  const endsOf = (tokens: Uint32Array): readonly number[] =>
    blockEnds(tokens, (token) => model.isEogToken(token));
  /** The idle reading of the conversation with its last answer. */
  let ahead: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;

  function promptOf(messages: EngineRequest["messages"], asks = true): Uint32Array {
    let text: string;
    try {
      if (renderer === undefined) throw new TypeError("it is open for vectors");
      text = renderer.render({
        messages: messages.map(({ role, content }) => ({ role, content })),
        add_generation_prompt: asks,
        enable_thinking: thoughts,
        bos_token: model.getTokenString(model.tokenBos()),
        eos_token: model.getTokenString(model.tokenEos()),
      });
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : "it cannot be rendered";
      throw new Fault("invalidInput", `Cannot infer: the model's template: ${why.slice(0, 300)}`, {
        cause,
      });
    }
    const tokens = model.tokenize(text, true);
    const first = model.tokenBos();
    if (!model.shouldPrependBosToken() || tokens[0] === first) return tokens;
    const whole = new Uint32Array(tokens.length + 1);
    whole[0] = first;
    whole.set(tokens, 1);
    return whole;
  }

  /** Computes a prompt. Returns the position of its last token's logits. */
  async function read(
    tokens: Uint32Array,
    { signal, onRead, reuse, ends }:
      & Pick<Parameters<Engine["complete"]>[1], "signal" | "onRead">
      & { readonly reuse: boolean; readonly ends: readonly number[] },
  ): Promise<{ readonly sequence: number; readonly logits: number; readonly kept: number }> {
    const { sequence, copy, kept: wished } = prefixes.place(tokens, ends);
    const kept = await settle(context, { sequence, copy, kept: reuse ? wished : 0 });
    let at = kept;
    let logits = -1;
    for (const end of [...ends, tokens.length]) {
      if (end <= at) continue;
      stopIfAborted(signal);
      const block = tokens.subarray(at, end);
      logits = await decode(context, { sequence, at, tokens: block, last: end === tokens.length });
      at = end;
      prefixes.hold(sequence, tokens, ends.findLast((each) => each <= at) ?? 0);
      onRead?.({ done: at, total: tokens.length });
    }
    return { sequence, logits, kept };
  }

  function readAhead(messages: EngineRequest["messages"]): void {
    const stop = new AbortController();
    const work = async (): Promise<void> => {
      const whole = promptOf(messages, false);
      const ends = endsOf(whole);
      const tokens = whole.subarray(0, ends.at(-1) ?? 0);
      const fits = tokens.length > 0 && tokens.length < contextTokens;
      if (fits) await read(tokens, { signal: stop.signal, reuse: true, ends });
    };
    // Nobody waits for this work: on failure the next request repeats it and reports the reason.
    ahead = { stop, done: work().catch(() => undefined) };
  }

  const rest = async (): Promise<void> => {
    ahead?.stop.abort();
    await ahead?.done;
  };
  options.stops?.(rest);

  async function complete(
    request: EngineRequest,
    { onText, onRead, signal }: Parameters<Engine["complete"]>[1],
  ): Promise<EngineEnd> {
    stopIfAborted(signal);
    await rest();
    const tokens = promptOf(request.messages);
    const ends = endsOf(tokens);
    if (tokens.length >= contextTokens) {
      throw new Fault(
        "contextOverflow",
        `Cannot infer: ${tokens.length} tokens are more than fit into ${contextTokens}`,
        { detail: { tokens: tokens.length, room: contextTokens } },
      );
    }
    using choice = makeSampler({ addon, model }, request, failed);
    const reuse = request.reuse ?? true;
    const { sequence, logits: first, kept } = await read(tokens, { signal, onRead, ends, reuse });
    const text = makeTokenText(model, tokens.at(-1));
    const stops = makeStops(request.stop);
    let answer = "";
    const tell = (said: string): void => {
      answer += said;
      if (said !== "") onText(said);
    };
    const say = (piece: string): boolean => {
      const { text: said, stopped } = stops.take(piece);
      tell(said);
      return stopped;
    };
    let logits = first;
    let written = 0;
    let why: EngineEnd["why"] = "length";
    let stopped = false;
    try {
      const room = Math.min(request.maxTokens, contextTokens - tokens.length);
      while (written < room) {
        stopIfAborted(signal);
        const token = await context.sampleToken(logits, choice.sampler);
        written++;
        if (token < 0 || model.isEogToken(token)) {
          why = "stop";
          break;
        }
        stopped = say(text.take(token));
        if (stopped) why = "stop";
        if (stopped || written === room) break;
        const at = tokens.length + written - 1;
        logits = await decode(context, {
          sequence,
          at,
          tokens: Uint32Array.of(token),
          last: true,
        });
      }
    } finally {
      forget(sequence, tokens, ends.at(-1) ?? 0);
    }
    if (!stopped && !say(text.rest())) tell(stops.rest());
    if (reuse) readAhead([...request.messages, { role: "assistant", content: answer }]);
    return { why, inputTokens: tokens.length, outputTokens: written, reusedTokens: kept };
  }

  /**
   * Keeps only whole blocks of the prompt, so that the next request finds the state that a fresh engine would
   * compute.
   */
  function forget(sequence: number, tokens: Uint32Array, whole: number): void {
    if (context.removeTokenCellsFromSequence(sequence, whole, -1)) return;
    context.disposeSequence(sequence);
    prefixes.hold(sequence, tokens, 0);
  }

  async function embed(text: string): ReturnType<Engine["embed"]> {
    const tokens = withEnds(model.tokenize(text.toWellFormed(), false));
    if (tokens.length > contextTokens) {
      throw new Fault("tooLarge", `Cannot embed: ${tokens.length} tokens`, {
        detail: { tokens: tokens.length },
      });
    }
    context.disposeSequence(0);
    await decode(context, { sequence: 0, at: 0, tokens, last: true });
    const numbers = Float32Array.from(context.getEmbedding(tokens.length));
    const length = Math.hypot(...numbers);
    return { vector: numbers.map((each) => each / (length || 1)), inputTokens: tokens.length };
  }

  /** Adds the tokens that begin and end every input of this model. */
  function withEnds(tokens: Uint32Array): Uint32Array {
    const first = model.shouldPrependBosToken() && tokens[0] !== model.tokenBos();
    const last = model.shouldAppendEosToken() && tokens.at(-1) !== model.tokenEos();
    return Uint32Array.from([
      ...(first ? [model.tokenBos()] : []),
      ...tokens,
      ...(last ? [model.tokenEos()] : []),
    ]);
  }

  return Object.freeze<Engine>({
    complete,
    embed,
    count: (text) => Promise.resolve(model.tokenize(text, false).length),
    // The engine ends with its process, which the kernel observes.
    ended: new Promise(() => {}),
  });
}

function threadsOf(addon: Addon): number {
  return Math.max(1, Math.min(MAX_THREADS, Math.floor(addon.getMathCores() * SHARE_OF_CORES)));
}

async function succeeds(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch {
    // The logged error is more specific.
    return false;
  }
}

function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Fault("cancelled", "Cannot go on with the inference: cancelled");
}

/** Makes `sequence` hold the first `kept` tokens of a place. Returns how many it holds. */
async function settle(
  context: AddonContext,
  { sequence, copy, kept }: Place,
): Promise<number> {
  if (copy !== undefined) {
    context.disposeSequence(sequence);
    await context.copySequenceStateFromOtherSequence(sequence, copy);
  }
  if (kept > 0 && context.removeTokenCellsFromSequence(sequence, kept, -1)) return kept;
  context.disposeSequence(sequence);
  return 0;
}

/** Decodes tokens behind the first `at`. Returns the position of the last token's logits if `last`, else -1. */
async function decode(
  context: AddonContext,
  { sequence, at, tokens, last }: {
    readonly sequence: number;
    readonly at: number;
    readonly tokens: Uint32Array;
    readonly last: boolean;
  },
): Promise<number> {
  context.initBatch(tokens.length);
  const wanted = last ? Uint32Array.of(tokens.length - 1) : new Uint32Array(0);
  const [logits = -1] = context.addToBatch(sequence, at, tokens, wanted);
  await context.decodeBatch();
  return logits;
}

/** The defaults of llama.cpp's server, so that both engines sample alike. */
const SAMPLING = { topK: 40, topP: 0.95, minP: 0.05 };

/** Makes a sampler. Throws `invalidInput` for a grammar that llama.cpp refuses. */
function makeSampler(
  { addon, model }: { readonly addon: Addon; readonly model: AddonModel },
  { temperature, seed, grammar }: EngineRequest,
  failed: (doing: string) => Fault,
): { readonly sampler: AddonSampler } & Disposable {
  let grammarEvaluationState: object | undefined;
  if (grammar !== undefined) {
    try {
      const parsed = new addon.AddonGrammar(grammar, {
        addonExports: addon,
        rootRuleName: "root",
      });
      grammarEvaluationState = new addon.AddonGrammarEvaluationState(model, parsed);
    } catch (cause) {
      throw new Fault("invalidInput", failed("take the grammar").message, { cause });
    }
  }
  const sampler = new addon.AddonSampler(model);
  sampler.applyConfig({
    temperature,
    seed,
    ...SAMPLING,
    ...(grammarEvaluationState === undefined ? {} : { grammarEvaluationState }),
  });
  return { sampler, [Symbol.dispose]: () => sampler.dispose() };
}

/** Watches streamed text for stop sequences. */
interface Stops {
  /** Text that may be shown now. `stopped`: a stop sequence was found; pass no further text. */
  take(piece: string): { readonly text: string; readonly stopped: boolean };
  /** Text held back as a possible beginning of a stop sequence. */
  rest(): string;
}

/** Makes a watch for `stops`. */
export function makeStops(stops: readonly string[]): Stops {
  const texts = stops.filter((each) => each !== "");
  let held = "";
  return Object.freeze({
    take(piece: string): { text: string; stopped: boolean } {
      held += piece;
      const found = texts.map((each) => held.indexOf(each)).filter((at) => at >= 0);
      if (found.length > 0) {
        const text = held.slice(0, Math.min(...found));
        held = "";
        return { text, stopped: true };
      }
      const back = partAtEnd(held, texts);
      const text = held.slice(0, held.length - back);
      held = held.slice(held.length - back);
      return { text, stopped: false };
    },
    rest: () => held,
  });
}

/** Tokens that one character may need: four bytes, and some tokens without text. */
const MAX_CHARACTER_TOKENS = 8;
const REPLACEMENT = "\u{fffd}";

/** Decodes streamed tokens into whole characters. */
interface TokenText {
  /** The text completed by this token, perhaps empty. */
  take(token: number): string;
  /** The remaining text. */
  rest(): string;
}

/** Makes a decoder. `before`: the token before the first, which preserves a leading space. */
export function makeTokenText(
  model: Pick<AddonModel, "detokenize">,
  before: number | undefined,
): TokenText {
  let anchor = before === undefined ? [] : [before];
  let waiting: number[] = [];
  const text = (tokens: readonly number[]): string =>
    model.detokenize(Uint32Array.from(tokens), true);
  let said = text(anchor);
  const flush = (whole: string): string => {
    const piece = whole.slice(said.length);
    anchor = waiting.slice(-1);
    said = text(anchor);
    waiting = [];
    return piece;
  };
  return Object.freeze({
    take(token: number): string {
      waiting.push(token);
      const whole = text([...anchor, ...waiting]);
      return waiting.length < MAX_CHARACTER_TOKENS && whole.endsWith(REPLACEMENT)
        ? ""
        : flush(whole);
    },
    rest: () => waiting.length === 0 ? "" : flush(text([...anchor, ...waiting])),
  });
}
