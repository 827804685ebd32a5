/** One model service process for each backend configuration, shared by tasks, stateless. @module */
import {
  type Embeddings,
  Fault,
  type InferenceRequest,
  InferenceResponse,
  type Json,
  ModelInfo,
  StreamChunk,
  toJson,
} from "../contracts/mod.ts";
import { asJson } from "../port/as_json.ts";
import { sha256Hex } from "../port/digest.ts";
import type { Child, Children } from "./children.ts";
import { type ModelPlan, planModel, type PlanParts } from "./model_plan.ts";
import { priceOf } from "./model_cost.ts";
import { parseEmbeddings } from "./parse_embeddings.ts";
import { feedWeights, readWeights, type WeightsPowers } from "./weights.ts";

/** How an inference is made. */
export interface InferOptions {
  readonly onChunk: (chunk: StreamChunk) => void;
  /** Hears each exchange with a provider, where the model is recorded. */
  readonly onWire?: (exchange: string) => void;
  readonly signal: AbortSignal;
  /** Digest of the request's table of tools, when there is one: it is then sent once. */
  readonly table?: string | undefined;
}

/** A backend in use by one holder. */
export interface OpenModel {
  readonly info: ModelInfo;
  /** What was decided about it before it was opened. */
  readonly plan: Pick<ModelPlan, "host" | "rates" | "noWait" | "price" | "temperature" | "seed">;
  /** Rejects with the backend's fault, `cancelled`, or `upstream` when the service died. */
  infer(
    request: InferenceRequest,
    options: InferOptions,
  ): Promise<InferenceResponse>;
  /** Vectors of at most 256 texts. Rejects as `infer`. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embeddings>;
  /** Gives it back; a service that nobody holds is kept for the next task, at most a few. */
  release(): void;
}

/** Finds or starts model services. */
export interface ModelServices {
  provide(model: { readonly ref: string; readonly config: string }): Promise<OpenModel>;
  close(): Promise<void>;
}

interface Service {
  readonly child: Child;
  readonly info: ModelInfo;
  readonly plan: ModelPlan;
  readonly listeners: Map<number, Pick<InferOptions, "onChunk" | "onWire">>;
  /** Digests of tables that were sent. */
  readonly tables: Set<string>;
  holders: number;
}

/** Idle services kept warm. */
const IDLE = 2;

/** What {@link makeModelServices} is handed. */
export interface ModelServicesParts {
  readonly children: Pick<Children, "model">;
  readonly plans: PlanParts;
  readonly weights: WeightsPowers;
}

/** Makes the table of model services. */
export function makeModelServices(
  { children, plans, weights }: ModelServicesParts,
): ModelServices {
  const services = new Map<string, Promise<Service>>();
  let nextId = 0;

  const open = async (key: string, plan: ModelPlan): Promise<Service> => {
    const listeners: Service["listeners"] = new Map();
    if (plan.weights?.how === "check") await readWeights(plan.weights, weights);
    const child = await children.model({
      needs: plan.needs,
      handler: {
        ask: (op) => {
          throw new Fault("badFrame", `Cannot serve a model service: it asked for "${op}"`);
        },
        tell: (op, body) => {
          const heard = parseTold(op, body);
          if (heard === undefined) return;
          const listener = listeners.get(heard.id);
          if ("chunk" in heard) listener?.onChunk(heard.chunk);
          else listener?.onWire?.(heard.exchange);
        },
      },
    });
    void child.exited.then(() => services.delete(key));
    try {
      if (plan.weights?.how === "feed") await feedWeights(plan.weights, weights, child.port);
      const info = ModelInfo.safeParse(await child.port.ask("open", toJson(plan.open)));
      if (!info.success) {
        throw new Fault(
          "upstream",
          `Cannot open model "${plan.open.ref}": it describes itself wrongly`,
        );
      }
      // TRUST: what it costs and whether text leaves the machine is decided here, not by the service.
      const remote = plan.needs.role === "model" ? info.data.remote : plan.host !== undefined;
      const { price: _claimed, ...said } = info.data;
      const price = plan.needs.role === "model" ? info.data.price : priceOf(plan);
      return {
        child,
        plan,
        info: { ...said, remote, ...(price === undefined ? {} : { price }) },
        listeners,
        tables: new Set(),
        holders: 0,
      };
    } catch (error) {
      services.delete(key);
      await child.kill();
      if (error instanceof Fault && error.code === "gone") {
        const why = await child.end();
        throw new Fault("upstream", `Cannot open model "${plan.open.ref}": its service ${why}`, {
          cause: error,
        });
      }
      throw error;
    }
  };

  const trim = async (): Promise<void> => {
    const idle: [string, Service][] = [];
    for (const [key, pending] of services) {
      const service = await pending.catch(() => undefined);
      if (service !== undefined && service.holders === 0) idle.push([key, service]);
    }
    for (const [key, service] of idle.slice(0, Math.max(0, idle.length - IDLE))) {
      services.delete(key);
      await service.child.kill();
    }
  };

  return Object.freeze({
    async provide({ ref, config }: { ref: string; config: string }): Promise<OpenModel> {
      const plan = planModel({ ref, config }, plans);
      // Another key is another service: the old one holds what was taken back.
      const held = plan.open.credential;
      // A recording is played once, from its beginning: its service is its holder's alone.
      const alone = plan.needs.role === "remote" && plan.needs.at === undefined;
      const key = sha256Hex(
        alone ? String(++nextId) : "",
        ref,
        "\0",
        config,
        "\0",
        held?.header ?? "",
        "\0",
        held?.value ?? "",
      );
      const pending = services.get(key) ?? open(key, plan);
      services.set(key, pending);
      const service = await pending;
      service.holders += 1;
      let holding = true;
      return Object.freeze({
        info: service.info,
        plan: service.plan,
        infer: (
          request: InferenceRequest,
          options: InferOptions,
        ) => inferOn(service, ++nextId, request, options),
        embed: (texts: readonly string[], signal: AbortSignal) =>
          embedOn(service, ++nextId, texts, signal),
        release: () => {
          if (!holding) return;
          holding = false;
          service.holders -= 1;
          if (!alone) return void trim();
          services.delete(key);
          void service.child.kill();
        },
      });
    },
    async close(): Promise<void> {
      const all = await Promise.allSettled([...services.values()]);
      services.clear();
      await Promise.all(
        all.map((each) => each.status === "fulfilled" ? each.value.child.kill() : undefined),
      );
    },
  });
}

async function inferOn(
  service: Service,
  id: number,
  request: InferenceRequest,
  { onChunk, onWire, signal, table }: InferOptions,
): Promise<InferenceResponse> {
  service.listeners.set(id, { onChunk, ...(onWire === undefined ? {} : { onWire }) });
  try {
    const answer = await under(service, id, signal, () => asked(service, { id, request, table }));
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

async function embedOn(
  service: Service,
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

/** One request under way: cancelled in the service, too, and a service that ends is `upstream`. */
async function under(
  { child }: Service,
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
      throw new Fault("upstream", "Cannot finish the inference: the model service ended", {
        cause: error,
      });
    }
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** The service forgets tables that it has not seen for long: it says so, and is sent one again. */
async function asked(
  { child, tables }: Service,
  { id, request, table }: {
    readonly id: number;
    readonly request: InferenceRequest;
    readonly table: string | undefined;
  },
): Promise<Json> {
  const whole = asJson(request);
  if (table === undefined || request.tools.length === 0) {
    return await child.port.ask("infer", { id, request: whole });
  }
  if (tables.has(table)) {
    const light = asJson({ ...request, tools: [] });
    try {
      return await child.port.ask("infer", { id, request: light, table });
    } catch (error) {
      if (!(error instanceof Fault) || error.detail?.["table"] !== table) throw error;
    }
  }
  tables.add(table);
  return await child.port.ask("infer", { id, request: whole, table });
}

type Told =
  | { readonly id: number; readonly chunk: StreamChunk }
  | { readonly id: number; readonly exchange: string };

function parseTold(op: string, body: Json): Told | undefined {
  if (body === null || typeof body !== "object" || Array.isArray(body)) return undefined;
  const { id, chunk, exchange } = body as { id?: unknown; chunk?: unknown; exchange?: unknown };
  if (typeof id !== "number") return undefined;
  if (op === "wire") return typeof exchange === "string" ? { id, exchange } : undefined;
  if (op !== "chunk") return undefined;
  const parsed = StreamChunk.safeParse(chunk);
  return parsed.success ? { id, chunk: parsed.data } : undefined;
}
