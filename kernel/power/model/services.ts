/** One model service process for each backend configuration, shared by tasks, stateless. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { toJson } from "../../../contracts/base/json.ts";
import type { Embeddings, InferenceRequest } from "../../../contracts/model/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { Secret } from "../../../contracts/wire/mod.ts";
import { InferenceResponse, ModelInfo } from "../../../contracts/model/model.ts";
import { sha256Hex } from "../../../port/digest.ts";
import type { Children } from "../../core/child/children.ts";
import { type ModelPlan, planModel, type PlanParts } from "./model_plan.ts";
import { priceOf } from "./money.ts";
import { embedOn, inferOn, type InferOptions, type ModelService, parseTold } from "./service.ts";
import { feedWeights, readWeights, type WeightsPowers } from "./weights.ts";

export type { InferOptions };

/** A backend in use by one holder. */
export interface OpenModel {
  readonly info: ModelInfo;
  /** The decisions before opening. */
  readonly plan: Pick<ModelPlan, "host" | "rates" | "noWait" | "price" | "temperature" | "seed">;
  /** Rejects with the backend's fault, `cancelled`, or `upstream` when the service died. */
  infer(
    request: InferenceRequest,
    options: InferOptions,
  ): Promise<InferenceResponse>;
  /** Vectors of at most 256 texts. Rejects like `infer`. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embeddings>;
  /** Releases the model; a few unused services stay warm for the next task. */
  release(): void;
}

/** Finds or starts model services. */
export interface ModelServices {
  provide(model: { readonly ref: string; readonly config: string }): Promise<OpenModel>;
  /**
   * Ends the processes of unused models, all or those of one reference; the next task starts them
   * again. Resolves with the references of ended models, and of those in use.
   */
  unload(
    ref?: string,
  ): Promise<{ readonly ended: readonly string[]; readonly used: readonly string[] }>;
  close(): Promise<void>;
}

/** Milliseconds for opening: a fixed time, and more for each MiB of weights. */
const OPEN_MS = 60_000;
const WEIGHT_MS = 50;
const openMs = ({ weights }: ModelPlan): number =>
  OPEN_MS + WEIGHT_MS * Math.ceil((weights?.bytes ?? 0) / 1_048_576);

/** Unused services that stay warm. */
const MAX_IDLE = 2;

/** The starter, the plans and the weights of model services. */
interface ModelServicesParts {
  readonly children: Pick<Children, "model">;
  readonly plans: PlanParts;
  readonly weights: WeightsPowers;
  readonly powers: Pick<Powers, "after">;
}

/** Makes the table of model services. */
export function makeModelServices(
  { children, plans, weights, powers }: ModelServicesParts,
): ModelServices {
  const services = new Map<string, Promise<ModelService>>();
  let nextId = 0;

  const open = async (key: string, plan: ModelPlan): Promise<ModelService> => {
    const listeners: ModelService["listeners"] = new Map();
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
    let ended = false;
    void child.exited.then(() => {
      ended = true;
      services.delete(key);
    });
    let late = false;
    // A file of weights may contain a template that never ends.
    const disarm = powers.after(openMs(plan), () => {
      late = true;
      void child.kill();
    });
    try {
      if (plan.weights?.how === "feed") await feedWeights(plan.weights, weights, child.port);
      const info = ModelInfo.safeParse(await child.port.ask("open", toJson(plan.open)));
      if (!info.success) {
        throw new Fault(
          "upstream",
          `Cannot open model "${plan.open.ref}": it describes itself wrongly`,
        );
      }
      // TRUST: price and destination are decided here, not by the service.
      const remote = plan.needs.role === "model" ? info.data.remote : plan.host !== undefined;
      const { price: _claimed, ...own } = info.data;
      const price = plan.needs.role === "model" ? info.data.price : priceOf(plan);
      return {
        child,
        plan,
        info: { ...own, remote, ...(price === undefined ? {} : { price }) },
        listeners,
        tables: new Set(),
        ended: () => ended,
        holders: 0,
      };
    } catch (error) {
      services.delete(key);
      await child.kill();
      if (late) {
        const seconds = Math.round(openMs(plan) / 1_000);
        throw new Fault(
          "timedOut",
          `Cannot open model "${plan.open.ref}": it was not ready in ${seconds} s`,
          { cause: error },
        );
      }
      if (error instanceof Fault && error.code === "gone") {
        const why = await child.end();
        throw new Fault("upstream", `Cannot open model "${plan.open.ref}": its service ${why}`, {
          cause: error,
        });
      }
      throw error;
    } finally {
      disarm();
    }
  };

  const trim = async (): Promise<void> => {
    const idle: [string, ModelService][] = [];
    for (const [key, pending] of services) {
      const service = await pending.catch(() => undefined);
      if (service !== undefined && service.holders === 0) idle.push([key, service]);
    }
    for (const [key, service] of idle.slice(0, Math.max(0, idle.length - MAX_IDLE))) {
      services.delete(key);
      await service.child.kill();
    }
  };

  return Object.freeze({
    async provide({ ref, config }: { ref: string; config: string }): Promise<OpenModel> {
      const plan = planModel({ ref, config }, plans);
      // Another credential means another service, because the old one still holds the old credential.
      const held = plan.open.credential;
      // A recording is played once from its beginning, so its service is not shared.
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
      const find = (): Promise<ModelService> => {
        const pending = services.get(key) ?? open(key, plan);
        services.set(key, pending);
        return pending;
      };
      let service = await find();
      service.holders += 1;
      let holding = true;
      /** The service, started again where it died: services keep no state. */
      const living = async (): Promise<ModelService> => {
        if (alone || !holding || !service.ended()) return service;
        const next = await find();
        next.holders += 1;
        service.holders -= 1;
        service = next;
        return service;
      };
      return Object.freeze({
        info: service.info,
        plan: service.plan,
        infer: async (
          request: InferenceRequest,
          options: InferOptions,
        ) => await inferOn(await living(), ++nextId, request, options),
        embed: async (texts: readonly string[], signal: AbortSignal) =>
          await embedOn(await living(), ++nextId, texts, signal),
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
    async unload(ref?: string) {
      const [ended, used]: [string[], string[]] = [[], []];
      for (const [key, pending] of [...services]) {
        const service = await pending.catch(() => undefined);
        const of = service?.plan.open.ref;
        if (service === undefined || of === undefined || (ref !== undefined && of !== ref)) {
          continue;
        }
        // INVARIANT: checked and removed without an await between, so that no task gets an ending service.
        if (service.holders > 0) used.push(of);
        else {
          services.delete(key);
          ended.push(of);
          await service.child.kill();
        }
      }
      return { ended, used };
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

// The secrets of a kernel: the operator's kept ones, which may change while it runs, and those lent by a command line.

/** The operator's kept secrets at one moment. */
interface KeptSecrets {
  readonly secrets: readonly Secret[];
  /** Digest of the sealed file. */
  readonly digest: string;
}

/** Secrets by name. */
export interface LentSecrets {
  /** For model services: a kept or a lent secret. */
  get(name: string): Secret | undefined;
  /** A kept secret. */
  kept(name: string): Secret | undefined;
  /** Digest of the kept secrets. */
  digest(): string;
  /** Replaces all kept secrets. */
  keep(kept: KeptSecrets): void;
  /** Holds a secret in memory for the life of this kernel; a kept one of the same name has precedence. */
  lend(secret: Secret): void;
}

/** Makes the secrets of a kernel. */
export function makeLentSecrets(first: KeptSecrets): LentSecrets {
  let kept = first;
  const lent = new Map<string, Secret>();
  const find = (name: string): Secret | undefined =>
    kept.secrets.find((secret) => secret.name === name);
  return Object.freeze({
    get: (name: string) => find(name) ?? lent.get(name),
    kept: find,
    digest: () => kept.digest,
    keep: (next: KeptSecrets) => void (kept = next),
    lend(secret: Secret): void {
      lent.set(secret.name, Object.freeze({ ...secret }));
    },
  });
}
