/** Requests to one model service process. Used by services.ts. @module */
import { isObject } from "../../../contracts/base/json.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { InferenceResponse, StreamChunk } from "../../../contracts/model/model.ts";
import type { Json } from "../../../contracts/base/mod.ts";
import type { Embeddings, InferenceRequest, ModelInfo } from "../../../contracts/model/mod.ts";
import { asJson } from "../../../port/as_json.ts";
import type { Child } from "../../core/child/children.ts";
import type { ModelPlan } from "./model_plan.ts";

/** Options of an inference. */
export interface InferOptions {
  readonly onChunk: (chunk: StreamChunk) => void;
  /** Called with each exchange with a provider, where the model is recorded. */
  readonly onWire?: (exchange: string) => void;
  readonly signal: AbortSignal;
  /** Digest of the request's table of tools, if any; such a table is sent only once. */
  readonly table?: string | undefined;
  /** Streams only pieces of text. */
  readonly textOnly?: boolean;
}

/** An open service. */
export interface ModelService {
  readonly child: Child;
  readonly info: ModelInfo;
  readonly plan: ModelPlan;
  readonly listeners: Map<number, Pick<InferOptions, "onChunk" | "onWire">>;
  /** Digests of sent tables. */
  readonly tables: Set<string>;
  /** True once the process has ended. */
  ended(): boolean;
  holders: number;
}

/** One inference on a service. Rejects with the service's fault, `cancelled`, or `upstream` after the service's end. */
export async function inferOn(
  service: ModelService,
  id: number,
  request: InferenceRequest,
  { onChunk, onWire, signal, ...how }: InferOptions,
): Promise<InferenceResponse> {
  service.listeners.set(id, { onChunk, ...(onWire === undefined ? {} : { onWire }) });
  try {
    const answer = await under(service, id, signal, () => asked(service, { id, request, ...how }));
    // TRUST: from the model service, semi-trusted: parsed with limits.
    const parsed = InferenceResponse.safeParse(answer);
    if (!parsed.success) {
      throw new Fault(
        "upstream",
        `Cannot read the model's answer: ${parsed.error.issues[0]?.message}`,
      );
    }
    return parsed.data;
  } finally {
    service.listeners.delete(id);
  }
}

/** Vectors of texts. Rejects like {@link inferOn}. */
export async function embedOn(
  service: ModelService,
  id: number,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Embeddings> {
  const answer = await under(
    service,
    id,
    signal,
    () => service.child.port.ask("embed", { id, texts: [...texts] }),
  );
  return parseEmbeddings(answer, { texts: texts.length, dimensions: service.info.outputTokens });
}

/** Runs one request: cancels it in the service on abort, and reports an ended service as `upstream`. */
async function under(
  { child }: ModelService,
  id: number,
  signal: AbortSignal,
  ask: () => Promise<Json>,
): Promise<Json> {
  const cancelled = (): Fault => new Fault("cancelled", "Cannot finish the inference: cancelled");
  if (signal.aborted) throw cancelled();
  const aborted = Promise.withResolvers<never>();
  const cancel = (): void => {
    child.port.tell("cancel", { id });
    aborted.reject(cancelled());
  };
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([ask(), aborted.promise]);
  } catch (error) {
    if (error instanceof Fault && error.code === "gone") {
      const why = await child.end();
      throw new Fault("upstream", `Cannot finish the inference: the model service ${why}`, {
        cause: error,
      });
    }
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Sends an inference. The service drops tables that were unused for long and reports this; the table is then sent again. */
async function asked(
  { child, tables }: ModelService,
  { id, request, table, textOnly }: Pick<InferOptions, "table" | "textOnly"> & {
    readonly id: number;
    readonly request: InferenceRequest;
  },
): Promise<Json> {
  const body = { id, request: asJson(request), ...(textOnly === true ? { textOnly } : {}) };
  if (table === undefined || request.tools.length === 0) return await child.port.ask("infer", body);
  if (tables.has(table)) {
    const light = asJson({ ...request, tools: [] });
    try {
      return await child.port.ask("infer", { ...body, request: light, table });
    } catch (error) {
      if (!(error instanceof Fault) || error.detail?.["table"] !== table) throw error;
    }
  }
  tables.add(table);
  return await child.port.ask("infer", { ...body, table });
}

type Told =
  | { readonly id: number; readonly chunk: StreamChunk }
  | { readonly id: number; readonly exchange: string };

/** Parses a service's notification; undefined where it is neither a chunk nor an exchange. */
export function parseTold(op: string, body: Json): Told | undefined {
  if (!isObject(body)) return undefined;
  const { id, chunk, exchange } = body;
  if (typeof id !== "number") return undefined;
  if (op === "wire") return typeof exchange === "string" ? { id, exchange } : undefined;
  if (op !== "chunk") return undefined;
  const parsed = StreamChunk.safeParse(chunk);
  return parsed.success ? { id, chunk: parsed.data } : undefined;
}

/**
 * Parses the answer to `embed` (contracts/wire/wire_model.ts).
 *
 * @throws Fault `upstream` for a wrong number or length of vectors, or a component that is no number
 */
function parseEmbeddings(
  answer: Json,
  { texts, dimensions }: { readonly texts: number; readonly dimensions: number },
): Embeddings {
  const broken = (why: string): Fault =>
    new Fault("upstream", `Cannot read the embedder's answer: ${why}`);
  if (!isObject(answer)) throw broken("it is no object");
  const { vectors, inputTokens } = answer as { vectors?: unknown; inputTokens?: unknown };
  if (!Array.isArray(vectors) || vectors.length !== texts) {
    throw broken(`there are not ${texts} vectors`);
  }
  if (typeof inputTokens !== "number" || !Number.isSafeInteger(inputTokens) || inputTokens < 0) {
    throw broken("its count of tokens is none");
  }
  return { vectors: vectors.map((each) => parseVector(each, dimensions, broken)), inputTokens };
}

function parseVector(
  text: unknown,
  dimensions: number,
  broken: (why: string) => Fault,
): Float32Array {
  if (typeof text !== "string" || text.length !== Math.ceil(dimensions * 4 / 3) * 4) {
    throw broken(`a vector is not of ${dimensions} numbers`);
  }
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(text);
  } catch {
    throw broken("a vector is not base64");
  }
  if (bytes.length !== dimensions * 4) throw broken(`a vector is not of ${dimensions} numbers`);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const vector = Float32Array.from(
    { length: dimensions },
    (_, n) => view.getFloat32(n * 4, true),
  );
  if (!vector.every(Number.isFinite)) throw broken("a vector holds what is no number");
  return vector;
}
