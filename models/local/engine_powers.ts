/** llama.cpp as WebAssembly in a thread of its own, so that the port stays responsive during a token. @module */
import { Fault } from "../../contracts/base/fault.ts";
import wasm from "@wllama/wllama/esm/wasm/wllama.wasm" with { type: "bytes" };
import { Wllama } from "@wllama/wllama/esm/index.js";
import type { Engine, EngineEnd, EngineFile, EngineOptions, EngineRequest } from "./engine.ts";
import { lendGlobals } from "./engine_globals_powers.ts";

/** Input tokens computed at once. An abort waits for a batch, and memory grows with it. */
const BATCH = 64;
const LOG_ERRORS = 4;

/** The fields in use of an engine's streamed message. */
interface Piece {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly prompt_progress?: { readonly total: number; readonly processed: number };
  readonly timings?: {
    readonly cache_n: number;
    readonly prompt_n: number;
    readonly predicted_n: number;
  };
}

/** An error as llama.cpp's server logs it. */
interface Refusal {
  readonly type?: string;
  readonly message?: string;
  readonly n_prompt_tokens?: number;
  readonly n_ctx?: number;
}

/** Starts wllama on a file. */
export async function startEngine(file: EngineFile, options: EngineOptions): Promise<Engine> {
  const { contextTokens, embedding, thoughts, end, template } = options;
  let refusal: Refusal | undefined;
  let complaint: string | undefined;
  const ended = Promise.withResolvers<string>();
  const hear = (...said: readonly unknown[]): void => {
    for (const each of said) {
      if (each instanceof ErrorEvent) {
        // An unhandled error of the engine's thread would end this process before it answers.
        each.preventDefault();
        ended.resolve(each.message);
      } else if (typeof each === "string") complaint ??= each;
      else if (isRefusal(each)) refusal = each;
    }
  };
  const quiet = (): void => {};
  using lent = lendGlobals();
  const wllama = new Wllama({ default: lent.url(wasm, "application/wasm") }, {
    // Neither downloads nor caches: without these, wllama asks for storage.
    cacheManager: Object.create(null),
    modelManager: Object.create(null),
    logger: { debug: quiet, log: quiet, warn: quiet, error: hear },
  });

  /** Runs one operation of the engine. A failure becomes a fault with the engine's reason, or ends the engine. */
  async function step<T>(doing: string, work: () => Promise<T>): Promise<T> {
    refusal = undefined;
    complaint = undefined;
    const dead = ended.promise.then((why): never => {
      throw gone(doing, why);
    });
    try {
      return await Promise.race([work(), dead]);
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw faultOf(doing, error);
    }
  }

  function faultOf(doing: string, error: unknown): Fault {
    const why = error instanceof Error ? error.message : String(error);
    if (error instanceof Error && error.name === "AbortError") {
      return new Fault("cancelled", `Cannot go on to ${doing}: cancelled`);
    }
    if (refusal?.type === "exceed_context_size_error") {
      const { n_prompt_tokens: tokens = 0, n_ctx: room = contextTokens } = refusal;
      return new Fault(
        "contextOverflow",
        `Cannot ${doing}: ${tokens} tokens are more than fit into ${room}`,
        { detail: { tokens, room } },
      );
    }
    const [, tokens] = /input \((\d+) tokens\) is too large/.exec(refusal?.message ?? "") ?? [];
    if (tokens !== undefined) {
      return new Fault("tooLarge", `Cannot ${doing}: ${tokens} tokens`, {
        detail: { tokens: Number(tokens) },
      });
    }
    if (refusal?.message !== undefined) {
      return new Fault("invalidInput", `Cannot ${doing}: ${tidy(refusal.message)}`);
    }
    // An exception of llama.cpp arrives as an unreadable answer; its reason was logged before.
    if (complaint !== undefined && !/unreachable|out of bounds|memory|abort/i.test(why)) {
      return new Fault("invalidInput", `Cannot ${doing}: ${tidy(complaint)}`);
    }
    ended.resolve(why);
    return gone(doing, why);
  }

  await step("load the model", async () => {
    await wllama.loadModel([asBlob(file)], {
      n_ctx: contextTokens,
      n_threads: 1,
      n_gpu_layers: 0,
      n_parallel: 1,
      // A vector is computed over a whole text at once.
      n_batch: embedding ? contextTokens : BATCH,
      n_ubatch: embedding ? contextTokens : BATCH,
      warmup: false,
      jinja: true,
      ...(template === undefined ? {} : { chat_template: template }),
      reasoning: thoughts,
      reasoning_format: "none",
      skip_chat_parsing: true,
      embeddings: embedding,
      log_level: LOG_ERRORS,
    });
    const info: object = wllama.getLoadedContextInfo();
    if (!("success" in info) || info.success !== true) {
      const why = complaint === undefined ? "the engine does not say why" : tidy(complaint);
      throw new Fault("invalidInput", `Cannot load the model: ${why}`);
    }
  });

  async function complete(
    request: EngineRequest,
    { onText, onRead, signal }: Parameters<Engine["complete"]>[1],
  ): Promise<EngineEnd> {
    let last: Piece = {};
    let cut = false;
    const body = {
      // llama.cpp parses JSON strictly: a lone surrogate would be an error.
      messages: request.messages.map(({ role, content }) => ({
        role,
        content: content.toWellFormed(),
      })),
      max_tokens: request.maxTokens,
      temperature: request.temperature,
      seed: request.seed,
      stop: request.stop.map((text) => text.toWellFormed()),
      cache_prompt: request.reuse ?? true,
      ...(request.grammar === undefined ? {} : { grammar: request.grammar }),
      stream: true as const,
      return_progress: true,
      abortSignal: signal,
      onData: (piece: Piece) => {
        const progress = piece.prompt_progress;
        if (progress !== undefined) {
          return onRead?.({ done: progress.processed, total: progress.total });
        }
        last = piece;
        const [choice] = piece.choices ?? [];
        if (choice?.finish_reason === "length") cut = true;
        const text = choice?.delta?.content;
        if (text !== undefined && text !== null && text !== "") onText(text);
      },
    };
    await step("infer", () => wllama.createChatCompletion(body));
    const { cache_n: reused = 0, prompt_n: read = 0, predicted_n: written = 0 } = last.timings ??
      {};
    return {
      why: cut ? "length" : "stop",
      inputTokens: reused + read,
      outputTokens: written,
      reusedTokens: reused,
    };
  }

  async function embed(
    text: string,
  ): Promise<{ readonly vector: Float32Array; readonly inputTokens: number }> {
    const answer = await step(
      "embed",
      () => wllama.createEmbedding({ input: text.toWellFormed() }),
    );
    const numbers = answer.data[0]?.embedding;
    if (!Array.isArray(numbers)) {
      throw new Fault("upstream", "Cannot embed: the engine gave no vector");
    }
    return { vector: Float32Array.from(numbers), inputTokens: answer.usage.prompt_tokens };
  }

  /** Control tokens fill the context, so that the engine counts, and refuses before it computes. */
  async function counted(text: string): Promise<number> {
    if (end === undefined) throw new Fault("unavailable", "Cannot count tokens: no control token");
    const prompt = text.toWellFormed() + end.repeat(contextTokens);
    try {
      await step("count", () => wllama.createCompletion({ prompt, max_tokens: 1, stream: false }));
    } catch (error) {
      const tokens = error instanceof Fault ? error.detail?.["tokens"] : undefined;
      if (typeof tokens === "number") return tokens;
      throw error;
    }
    throw new Fault("upstream", "Cannot count tokens: the engine took too many");
  }
  let none: Promise<number> | undefined;
  async function count(text: string): Promise<number> {
    none ??= counted("");
    const base = await none;
    return text === "" ? 0 : await counted(text) - base;
  }

  return Object.freeze<Engine>({ complete, embed, count, ended: ended.promise });
}

/** A message on one line of bounded length, without the names of llama.cpp's functions. */
function tidy(said: string): string {
  const names =
    /^(?:(?:llama_model_load|common_chat_templates_init|srv|init|load_model|error)\s*:?\s+)+/;
  return said.replaceAll(/\s+/g, " ").replace(names, "")
    .replace(/^(?:loading model(?: \w+)?: (?:error )?)+/, "").slice(0, 300);
}

function isRefusal(said: unknown): said is Refusal {
  return typeof said === "object" && said !== null && "message" in said &&
    typeof said.message === "string" && "code" in said;
}

function gone(doing: string, why: string): Fault {
  return new Fault("upstream", `Cannot ${doing}: the engine ended: ${tidy(why)}`);
}

/** Implements the two methods of Blob that wllama uses, without copying the file. */
function asBlob(file: EngineFile): Blob {
  const slice = (from = 0, to = file.length): Pick<Blob, "arrayBuffer" | "size"> => ({
    size: Math.max(0, Math.min(to, file.length) - from),
    arrayBuffer: () => Promise.try(() => file.read(from, to - from).buffer),
  });
  return { ...slice(), slice } as Blob;
}
