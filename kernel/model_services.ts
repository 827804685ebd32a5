/** One model service process for each backend configuration, shared by tasks, stateless. @module */
import {
  Fault,
  type InferenceRequest,
  InferenceResponse,
  type Json,
  ModelInfo,
  StreamChunk,
} from "../contracts/mod.ts";
import { asJson } from "../port/as_json.ts";
import { sha256Hex } from "../port/digest.ts";
import type { Child, Children } from "./children.ts";

/** How an inference is made. */
export interface InferOptions {
  readonly onChunk: (chunk: StreamChunk) => void;
  readonly signal: AbortSignal;
  /** Digest of the request's table of tools, when there is one: it is then sent once. */
  readonly table?: string | undefined;
}

/** A backend in use by one holder. */
export interface OpenModel {
  readonly info: ModelInfo;
  /** Rejects with the backend's fault, `cancelled`, or `upstream` when the service died. */
  infer(
    request: InferenceRequest,
    options: InferOptions,
  ): Promise<InferenceResponse>;
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
  readonly chunks: Map<number, (chunk: StreamChunk) => void>;
  /** Digests of tables that were sent. */
  readonly tables: Set<string>;
  holders: number;
}

/** Idle services kept warm. */
const IDLE = 2;

/** Makes the table of model services. */
export function makeModelServices(children: Pick<Children, "model">): ModelServices {
  const services = new Map<string, Promise<Service>>();
  let nextId = 0;

  const open = async (key: string, ref: string, config: string): Promise<Service> => {
    const chunks = new Map<number, (chunk: StreamChunk) => void>();
    const child = await children.model({
      handler: {
        ask: (op) => {
          throw new Fault("badFrame", `Cannot serve a model service: it asked for "${op}"`);
        },
        tell: (op, body) => {
          if (op !== "chunk") return;
          const parsed = parseChunk(body);
          if (parsed !== undefined) chunks.get(parsed.id)?.(parsed.chunk);
        },
      },
    });
    void child.exited.then(() => services.delete(key));
    try {
      const kind = ref.split(":", 1)[0] ?? "";
      const info = ModelInfo.safeParse(await child.port.ask("open", { kind, ref, config }));
      if (!info.success) {
        throw new Fault("upstream", `Cannot open model "${ref}": it describes itself wrongly`);
      }
      return { child, info: info.data, chunks, tables: new Set(), holders: 0 };
    } catch (error) {
      services.delete(key);
      await child.kill();
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
      const key = sha256Hex(ref, "\0", config);
      const pending = services.get(key) ?? open(key, ref, config);
      services.set(key, pending);
      const service = await pending;
      service.holders += 1;
      let held = true;
      return Object.freeze({
        info: service.info,
        infer: (
          request: InferenceRequest,
          options: InferOptions,
        ) => inferOn(service, ++nextId, request, options),
        release: () => {
          if (!held) return;
          held = false;
          service.holders -= 1;
          void trim();
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
  { onChunk, signal, table }: InferOptions,
): Promise<InferenceResponse> {
  if (signal.aborted) throw new Fault("cancelled", "Cannot infer: cancelled");
  service.chunks.set(id, onChunk);
  const cancel = (): void => service.child.port.tell("cancel", { id });
  signal.addEventListener("abort", cancel, { once: true });
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener(
      "abort",
      () => reject(new Fault("cancelled", "Cannot finish the inference: cancelled")),
      { once: true },
    );
  });
  try {
    const answer = await Promise.race([
      asked(service, { id, request, table }),
      aborted,
    ]);
    // TRUST: from the model service, semi-trusted: parsed with limits.
    const parsed = InferenceResponse.safeParse(answer);
    if (!parsed.success) {
      throw new Fault(
        "upstream",
        `Cannot read the model's answer: ${parsed.error.issues[0]?.message}`,
      );
    }
    return parsed.data;
  } catch (error) {
    if (error instanceof Fault && error.code === "gone") {
      throw new Fault("upstream", "Cannot finish the inference: the model service ended", {
        cause: error,
      });
    }
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
    service.chunks.delete(id);
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

function parseChunk(body: Json): { id: number; chunk: StreamChunk } | undefined {
  if (body === null || typeof body !== "object" || Array.isArray(body)) return undefined;
  const { id, chunk } = body as { id?: unknown; chunk?: unknown };
  const parsed = StreamChunk.safeParse(chunk);
  return typeof id === "number" && parsed.success ? { id, chunk: parsed.data } : undefined;
}
