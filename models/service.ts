/** The model service: one backend, concurrent inferences, no state between them. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { Json } from "../contracts/base/json.ts";
import type { InferenceRequest, LanguageModel, TextEmbedder } from "../contracts/model/model.ts";
import type { Port, PortHandler } from "../contracts/base/port.ts";
import {
  type ModelCancel,
  type ModelChunk,
  type ModelEmbedAnswer,
  type ModelEmbedBody,
  type ModelInferAnswer,
  type ModelInferBody,
  type ModelWire,
  type OpenAnswer,
  type OpenBody,
  WEIGHTS_PIECE,
  type WeightsBody,
} from "../contracts/wire/wire_model.ts";
import type { ChatMessage, Provenance } from "../contracts/model/chat.ts";
import { mixColour, mixLabel } from "../contracts/authority/colour.ts";

/**
 * Makes the handler of a model service. Ops `weights`, `open` (once), `infer`, `embed`, event `cancel`. Faults:
 * `unavailable` for an unknown kind, `conflict` for a second open or an id in use, `invalidInput` before the open,
 * for weights out of order or for an unknown op, `cancelled`, and every fault of the backend.
 */
export function makeModelService(port: Pick<Port, "tell">, backends: Backends): PortHandler {
  const running = new Map<number, AbortController>();
  const tables = makeToolTables();
  let weights: Uint8Array[] = [];
  let came = 0;
  let opened: Promise<LanguageModel | TextEmbedder> | undefined;

  // TRUST: the kernel parsed the bodies before it sent them.
  function take({ at, base64 }: WeightsBody): null {
    const piece = Uint8Array.fromBase64(base64);
    if (opened !== undefined || at !== came || piece.length > WEIGHTS_PIECE) {
      throw new Fault("invalidInput", `Cannot take weights at ${at}: ${came} bytes have come`);
    }
    weights.push(piece);
    came += piece.length;
    return null;
  }

  async function open(body: OpenBody): Promise<OpenAnswer> {
    if (opened !== undefined) throw new Fault("conflict", "Cannot open model: one is open");
    const load = Object.hasOwn(backends, body.kind) ? backends[body.kind] : undefined;
    if (load === undefined) {
      const kinds = Object.keys(backends).join(", ");
      throw new Fault(
        "unavailable",
        `Cannot open model ${JSON.stringify(body.ref)}: no such kind; there is: ${kinds}`,
      );
    }
    const pieces = weights;
    // The backend keeps its own copy of the weights; a second one would not fit in memory.
    weights = [];
    const opening = load().then((begin) => begin(body, pieces));
    opened = opening;
    try {
      return await (await opening).info();
    } catch (error) {
      opened = undefined;
      throw error;
    }
  }

  async function cancellable<T>(id: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (running.has(id)) {
      throw new Fault("conflict", `Cannot begin: ${id} is under way`);
    }
    const abort = new AbortController();
    running.set(id, abort);
    try {
      return await work(abort.signal);
    } finally {
      running.delete(id);
    }
  }

  async function infer(
    { id, request: sent, table, textOnly }: ModelInferBody,
  ): Promise<ModelInferAnswer> {
    const request = table === undefined ? sent : { ...sent, tools: tables.of(table, sent.tools) };
    if (opened === undefined) throw new Fault("invalidInput", "Cannot infer: no model is open");
    const opening = opened;
    return await cancellable(id, async (signal) => {
      const model = await opening;
      if (!("infer" in model)) throw new Fault("invalidInput", "Cannot infer: this is an embedder");
      return await model.infer(request, {
        signal,
        onChunk(chunk): void {
          const wanted = textOnly !== true || chunk.textDelta !== undefined ||
            chunk.reading !== undefined;
          if (wanted) return tell("chunk", { id, chunk });
          const { rationale } = chunk;
          if (rationale !== undefined) tell("chunk", { id, chunk: { thought: rationale.length } });
        },
        onWire: (exchange) => tell("wire", { id, exchange }),
      });
    });
  }

  async function embed({ id, texts }: ModelEmbedBody): Promise<ModelEmbedAnswer> {
    if (opened === undefined) throw new Fault("invalidInput", "Cannot embed: no model is open");
    const opening = opened;
    checkTexts(texts);
    const { vectors, inputTokens } = await cancellable(id, async (signal) => {
      const embedder = await opening;
      if (!("embed" in embedder)) {
        throw new Fault("invalidInput", "Cannot embed: this is a language model");
      }
      return await embedder.embed(texts, { signal });
    });
    return { vectors: vectors.map(vectorText), inputTokens };
  }

  const tell = (op: "chunk" | "wire", body: ModelChunk | ModelWire): void =>
    port.tell(op, body as unknown as Json);

  return Object.freeze<PortHandler>({
    async ask(op: string, body: Json): Promise<Json> {
      switch (op) {
        case "weights":
          return take(body as unknown as WeightsBody);
        case "open":
          return await open(body as unknown as OpenBody) as unknown as Json;
        case "infer":
          return await infer(body as unknown as ModelInferBody) as unknown as Json;
        case "embed":
          return await embed(body as unknown as ModelEmbedBody) as unknown as Json;
        default:
          throw new Fault("invalidInput", `Cannot serve ${JSON.stringify(op)}: unknown to a model`);
      }
    },
    tell(op: string, body: Json): void {
      if (op === "cancel") running.get((body as unknown as ModelCancel).id)?.abort();
    },
  });
}

/**
 * Opens a model or an embedder. `weights` are the pieces received before, in order; empty for most kinds.
 * Throws `invalidInput` for a wrong `ref` or `config`, `upstream` or `unavailable` when opening fails.
 */
type OpenBackend = (
  open: OpenBody,
  weights: readonly Uint8Array[],
) => Promise<LanguageModel | TextEmbedder>;

/**
 * Kind → backend. A service opens one backend, so each is imported only when it is opened. A new backend is a
 * line in the `main.ts` of its service.
 */
type Backends = Readonly<Record<string, () => Promise<OpenBackend>>>;

/** Encodes a vector for the port: little-endian 32-bit floats, base64. */
function vectorText(vector: Float32Array): string {
  const bytes = new Uint8Array(vector.length * 4);
  const view = new DataView(bytes.buffer);
  vector.forEach((each, n) => view.setFloat32(n * 4, each, true));
  return bytes.toBase64();
}

/** More tool tables than the tasks of a kernel use at a time. */
const MAX_TABLES = 16;

type Tools = InferenceRequest["tools"];

/**
 * Keeps tables of tools by digest and drops the least recently used. `of` throws `notFound` for an empty
 * table with an unknown digest.
 */
export function makeToolTables() {
  const kept = new Map<string, Tools>();
  return Object.freeze({
    of(digest: string, sent: Tools): Tools {
      const tools = sent.length > 0 ? sent : kept.get(digest);
      if (tools === undefined) {
        throw new Fault("notFound", "Cannot infer: the table of tools is not known here", {
          detail: { table: digest },
        });
      }
      kept.delete(digest);
      kept.set(digest, tools);
      const [oldest] = kept.keys();
      if (kept.size > MAX_TABLES && oldest !== undefined) kept.delete(oldest);
      return tools;
    },
  });
}

const MAX_TEXTS = 256;

/** Throws `tooLarge` for more than 256 texts. */
export function checkTexts(texts: readonly string[]): void {
  if (texts.length > MAX_TEXTS) {
    throw new Fault("tooLarge", `Cannot embed: more than ${MAX_TEXTS} texts at once`);
  }
}

/** Provenance of an answer: the least trusted colour and the most confidential label among the messages. */
export function readProvenance(messages: readonly ChatMessage[], source: string): Provenance {
  let colour: Provenance["colour"] = "BLUE";
  let label: Provenance["label"] = "public";
  for (const { provenance } of messages) {
    colour = mixColour(colour, provenance.colour);
    label = mixLabel(label, provenance.label);
  }
  return { origin: "model", source: source.slice(0, 512), colour, label };
}
