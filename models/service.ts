/** The language-model service: one backend, any number of inferences at once, no memory of them. @module */
import { Fault } from "../contracts/fault.ts";
import type { Json } from "../contracts/json.ts";
import type { LanguageModel } from "../contracts/model.ts";
import type { Port, PortHandler } from "../contracts/port.ts";
import type {
  ModelCancel,
  ModelChunk,
  ModelInferAnswer,
  ModelInferBody,
  OpenAnswer,
  OpenBody,
} from "../contracts/wire_model.ts";
import { type BackendPowers, BACKENDS } from "./backend.ts";
import { makeToolTables } from "./tool_tables.ts";

/**
 * Makes the handler of a model service. Ops `open` (once) and `infer`, event `cancel`. Faults:
 * `unavailable` for an unknown kind, `conflict` for a second open or an id in use, `invalidInput`
 * before the open or for an unknown op, `cancelled`, and whatever the backend refuses.
 */
export function makeModelService(
  port: Pick<Port, "tell">,
  powers: BackendPowers,
): PortHandler {
  const underway = new Map<number, AbortController>();
  const tables = makeToolTables();
  let opened: Promise<LanguageModel> | undefined;

  // TRUST: bodies are the kernel's own, which parsed them.
  async function open(body: OpenBody): Promise<OpenAnswer> {
    if (opened !== undefined) throw new Fault("conflict", "Cannot open model: one is open");
    if (!Object.hasOwn(BACKENDS, body.kind)) {
      const kinds = Object.keys(BACKENDS).join(", ");
      throw new Fault(
        "unavailable",
        `Cannot open model ${JSON.stringify(body.ref)}: no such kind; there is: ${kinds}`,
      );
    }
    const opening = openBackend(body, powers);
    opened = opening;
    try {
      return await (await opening).info();
    } catch (error) {
      opened = undefined;
      throw error;
    }
  }

  async function infer({ id, request: sent, table }: ModelInferBody): Promise<ModelInferAnswer> {
    const request = table === undefined ? sent : { ...sent, tools: tables.of(table, sent.tools) };
    if (opened === undefined) throw new Fault("invalidInput", "Cannot infer: no model is open");
    if (underway.has(id)) {
      throw new Fault("conflict", `Cannot infer: inference ${id} is under way`);
    }
    const abort = new AbortController();
    underway.set(id, abort);
    try {
      return await (await opened).infer(request, {
        signal: abort.signal,
        onChunk: (chunk) => tell({ id, chunk }),
      });
    } finally {
      underway.delete(id);
    }
  }

  const tell = (chunk: ModelChunk): void => port.tell("chunk", chunk as unknown as Json);

  return Object.freeze<PortHandler>({
    async ask(op: string, body: Json): Promise<Json> {
      switch (op) {
        case "open":
          return await open(body as unknown as OpenBody) as unknown as Json;
        case "infer":
          return await infer(body as unknown as ModelInferBody) as unknown as Json;
        default:
          throw new Fault("invalidInput", `Cannot serve ${JSON.stringify(op)}: unknown to a model`);
      }
    },
    tell(op: string, body: Json): void {
      if (op === "cancel") underway.get((body as unknown as ModelCancel).id)?.abort();
    },
  });
}

async function openBackend(body: OpenBody, powers: BackendPowers): Promise<LanguageModel> {
  const load = BACKENDS[body.kind];
  if (load === undefined) throw new TypeError(`Cannot open model: no backend "${body.kind}"`);
  return await (await load())(body, powers);
}
