/**
 * From a task's model to what its service needs and is told: rights, weights, credential. The
 * configuration is parsed here, once. docs/decision/0011.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { isLoopback } from "../../../contracts/base/loopback.ts";
import {
  LocalConfig,
  nativeAddonOf,
  Price,
  Rates,
  RemoteConfig,
} from "../../../contracts/model/model_config.ts";
import type { ModelChoice } from "../../../contracts/task/mod.ts";
import type { OpenBody, Secret } from "../../../contracts/wire/mod.ts";
import type * as z from "zod";
import type { ModelNeeds } from "../../core/child/children.ts";
import { NATIVE_WEIGHTS } from "../../core/start/model_line.ts";

/** A file of weights that must hold what its name says. */
export interface WeightsFile {
  /** Absolute. */
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** How a model service is started and opened. */
export interface ModelPlan {
  readonly needs: ModelNeeds;
  readonly open: OpenBody;
  /** Sent before it is opened (`feed`), or only checked (`check`). */
  readonly weights?: WeightsFile & { readonly how: "feed" | "check" };
  /** Text leaves this machine: for a host that is not this one, replays apart. */
  readonly host?: string;
  readonly rates?: Rates;
  readonly noWait: boolean;
  readonly price?: Price;
  readonly temperature?: number;
  readonly seed?: number;
}

/** What plans are made from. */
export interface PlanParts {
  /** STATE/models, absolute. */
  readonly weights: string;
  /** llama.cpp's addon for the processor alone, absolute; its other builds lie beside it. */
  readonly addon: string;
  /** A secret by its name: kept ones, and those that a command line lent. */
  secret(name: string): Secret | undefined;
}

const REMOTE = ["anthropic", "openai", "ollama", "openai-embed", "ollama-embed"];
const LOCAL = ["gguf", "gguf-embed"];
/** Tokens that a local model is given room for when nobody says (models/local/). */
const CONTEXT = 4_096;

/**
 * Plans a model service.
 *
 * @throws Fault `invalidInput` for a configuration that does not parse, `notFound` for a secret that is
 * not here, `refused` for one of another origin
 */
export function planModel(choice: ModelChoice, parts: PlanParts): ModelPlan {
  const kind = choice.ref.split(":", 1)[0] ?? "";
  const open = { kind, ref: choice.ref, config: choice.config };
  if (REMOTE.includes(kind)) {
    return planRemote(choice, open, parts);
  }
  if (LOCAL.includes(kind)) return planLocal(choice, open, parts);
  return { needs: { role: "model" }, open, noWait: false };
}

function planRemote(choice: ModelChoice, open: OpenBody, parts: PlanParts): ModelPlan {
  const config = parseConfig(choice, RemoteConfig);
  const url = new URL(config.url);
  const shared = {
    noWait: config.noWait === true,
    ...(config.rates === undefined ? {} : { rates: config.rates }),
    ...(config.price === undefined ? {} : { price: config.price }),
    ...knobsOf(config),
  };
  // A replay sends nothing: it is given no way to.
  if (config.replay !== undefined) return { needs: { role: "remote" }, open, ...shared };
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const credential = config.secret === undefined
    ? undefined
    : credentialOf(config.secret, url, parts);
  return {
    needs: { role: "remote", at: { host: url.hostname, port } },
    open: { ...open, ...(credential === undefined ? {} : { credential }) },
    ...(isLoopback(url.hostname) ? {} : { host: url.host }),
    ...shared,
  };
}

function planLocal(choice: ModelChoice, open: OpenBody, parts: PlanParts): ModelPlan {
  const config = parseConfig(choice, LocalConfig);
  const { bytes, contextTokens = CONTEXT } = config;
  const file = weightsFile(parts, config.weights, bytes);
  if (config.engine === "wasm") {
    return {
      ...{ open, noWait: false },
      needs: { role: "local", bytes, contextTokens },
      weights: { ...file, how: "feed" },
      ...knobsOf(config),
    };
  }
  const { gpu, gpuLayers } = config;
  const addon = nativeAddonOf(parts.addon, gpu ?? "cpu");
  const device = gpu === undefined ? {} : { gpu };
  const layers = gpu === undefined || gpuLayers === undefined ? {} : { gpuLayers };
  return {
    noWait: false,
    needs: { role: "native", bytes, contextTokens, weights: file.file, addon, ...device },
    open: { ...open, native: { weights: NATIVE_WEIGHTS, addon, ...device, ...layers } },
    weights: { ...file, how: "check" },
    ...knobsOf(config),
  };
}

function knobsOf(
  { temperature, seed }: Pick<RemoteConfig, "temperature" | "seed">,
): Pick<ModelPlan, "temperature" | "seed"> {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(seed === undefined ? {} : { seed }),
  };
}

function weightsFile({ weights }: PlanParts, sha256: string, bytes: number): WeightsFile {
  return { file: `${weights}/${sha256}.gguf`, sha256, bytes };
}

function credentialOf(
  name: string,
  url: URL,
  { secret }: PlanParts,
): NonNullable<OpenBody["credential"]> {
  const held = secret(name);
  if (held === undefined) {
    throw new Fault(
      "unavailable",
      `Cannot open the model at ${url.origin}: its key "${name}" is not here; ` +
        "give it with `remit secret set`, or from the environment with `remit resume TASK`",
    );
  }
  // TRUST: a configuration names a secret; where that may go was said when it was kept.
  if (held.origin !== url.origin) {
    throw new Fault(
      "refused",
      `Cannot open the model at ${url.origin}: the secret "${name}" is for ${held.origin}`,
    );
  }
  return { header: held.header, value: `${held.prefix}${held.value}` };
}

function parseConfig<Schema extends z.ZodType>(
  { ref, config }: ModelChoice,
  schema: Schema,
): z.infer<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(config);
  } catch (cause) {
    throw new Fault("invalidInput", `Cannot open model "${ref}": its configuration is not JSON`, {
      cause,
    });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Fault(
    "invalidInput",
    `Cannot open model "${ref}": ${
      issue?.path.join(".") || "its configuration"
    }: ${issue?.message}`,
  );
}
