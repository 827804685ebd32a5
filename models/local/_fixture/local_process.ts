/** A local model in its real process, without any permission, behind its port. @module */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Json } from "../../../contracts/base/json.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { LanguageModel, TextEmbedder } from "../../../contracts/model/model.ts";
import type { ModelEmbedAnswer } from "../../../contracts/wire/wire_model.ts";
import { ModelInfo } from "../../../contracts/model/model.ts";
import type { Port } from "../../../port/mod.ts";
import { bundled, startChild } from "../../../port/_fixture/bundled_child.ts";
import type { PipedChild } from "../../../port/_fixture/piped_child.ts";
import { type Chunks, hearing, servedModel } from "../../_fixture/served_model.ts";

let built: Promise<string> | undefined;

/** Path of the bundled program: built once, removed with the test process. */
export function localProgram(): Promise<string> {
  built ??= bundled(new URL("../main.ts", import.meta.url)).then(({ file }) => {
    globalThis.addEventListener("unload", () => {
      Deno.removeSync(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    });
    return file;
  });
  return built;
}

/** A process with one model in it. */
export interface LocalProcess extends AsyncDisposable {
  readonly port: Port;
  readonly model: LanguageModel;
  /** The same process as an embedder: kind `gguf-embed`. */
  readonly embedder: TextEmbedder;
  readonly child: PipedChild;
}

/** Options of a model in tests, besides its weights. */
export type LocalOptions = Readonly<Record<string, Json>> & { readonly kind?: string };

/** The configuration that fits `weights`. */
export function configOf(weights: Uint8Array, more: Readonly<Record<string, Json>> = {}): string {
  const digest = createHash("sha256").update(weights).digest("hex");
  const bytes = weights.length;
  return JSON.stringify({ name: "tiny", weights: digest, bytes, engine: "wasm", ...more });
}

/** Starts the program and receives its chunks; loads nothing. */
export function startLocal(file: string): { readonly child: PipedChild; readonly chunks: Chunks } {
  const chunks: Chunks = new Map();
  const child = startChild(file, hearing(chunks));
  return { child, chunks };
}

/** Bytes of a piece: the port of a test takes frames of a megabyte, and base64 is a third longer. */
const PIECE = 524_288;

/** Sends weights as the kernel does. */
export async function sendWeights(port: Port, weights: Uint8Array): Promise<void> {
  for (let at = 0; at < weights.length; at += PIECE) {
    const base64 = weights.subarray(at, at + PIECE).toBase64();
    await port.ask("weights", { at, base64 });
  }
}

/** Opens `weights` in a process of its own. */
export async function openLocal(
  weights: Uint8Array,
  { kind = "gguf", ...more }: LocalOptions = {},
): Promise<LocalProcess> {
  const { child, chunks } = startLocal(await localProgram());
  try {
    await sendWeights(child.port, weights);
    const body = { kind, ref: `${kind}:tiny`, config: configOf(weights, more) };
    const info = ModelInfo.parse(await child.port.ask("open", body));
    return {
      port: child.port,
      child,
      model: servedModel(child.port, info, chunks),
      embedder: embedderOf(child.port, info),
      [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
    };
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
}

function embedderOf(port: Port, info: ModelInfo): TextEmbedder {
  let next = 0;
  return {
    info: () => Promise.resolve(info),
    async embed(texts, { signal }) {
      if (signal.aborted) throw new Fault("cancelled", "Cannot embed: cancelled");
      const id = ++next;
      const cancel = (): void => port.tell("cancel", { id });
      signal.addEventListener("abort", cancel, { once: true });
      try {
        const answer = await port.ask("embed", { id, texts: [...texts] });
        const { vectors, inputTokens } = answer as unknown as ModelEmbedAnswer;
        const floats = vectors.map((text) => new Float32Array(Uint8Array.fromBase64(text).buffer));
        return { vectors: floats, inputTokens };
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
  };
}

/** The fault of a call that must be refused. */
export async function refusal(promise: Promise<unknown>): Promise<Fault> {
  const error: unknown = await promise.then(() => undefined, (reason: unknown) => reason);
  assert.ok(error instanceof Fault, String(error));
  return error;
}
