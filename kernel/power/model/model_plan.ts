/**
 * Converts a task's model choice to a service's needs: permissions, weights, credential. The
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

/** A file of weights with its expected hash. */
export interface WeightsFile {
  /** Absolute. */
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** The start and the opening of a model service. */
export interface ModelPlan {
  readonly needs: ModelNeeds;
  readonly open: OpenBody;
  /** Sent to the service before opening (`feed`), or only checked (`check`). */
  readonly weights?: WeightsFile & { readonly how: "feed" | "check" };
  /** The remote host to which text is sent; absent for local models and replays. */
  readonly host?: string;
  readonly rates?: Rates;
  readonly noWait: boolean;
  readonly price?: Price;
  readonly temperature?: number;
  readonly seed?: number;
}

/** The paths and secrets that plans need. */
export interface PlanParts {
  /** STATE/models, absolute. */
  readonly weights: string;
  /** llama.cpp's CPU addon, absolute; other builds lie beside it. */
  readonly addon: string;
  /** A secret by name: kept, or lent by a command line. */
  secret(name: string): Secret | undefined;
}

const REMOTE = ["anthropic", "openai", "ollama", "openai-embed", "ollama-embed"];
const LOCAL = ["gguf", "gguf-embed"];
/** Context tokens of a local model by default (models/local/). */
const DEFAULT_CONTEXT = 4_096;

/**
 * Plans a model service.
 *
 * @throws Fault `invalidInput` for a configuration that does not parse, `unavailable` for a missing
 * secret, `refused` for a secret of another origin
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
  // A replay sends nothing, so it gets no network.
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
  const { bytes, contextTokens = DEFAULT_CONTEXT } = config;
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
  // TRUST: a configuration only names a secret; the secret's origin was fixed when it was kept.
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
