/** Parses the configuration of a remote backend and describes its model. @module */
import { tryJson } from "./wire_json.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { RemoteConfig } from "../../contracts/model/model_config.ts";
import type { ModelInfo } from "../../contracts/model/model.ts";
import type { OpenBody } from "../../contracts/wire/wire_model.ts";
import type { Endpoint } from "./endpoint.ts";

/** Throws `invalidInput` with the place of the error. */
export function parseRemoteConfig({ ref, config }: Pick<OpenBody, "ref" | "config">): RemoteConfig {
  try {
    return RemoteConfig.parse(JSON.parse(config));
  } catch (cause) {
    const issue = RemoteConfig.safeParse(tryJson(config)).error?.issues[0];
    const why = issue === undefined
      ? "its configuration is not JSON"
      : `${issue.path.join(".") || "its configuration"}: ${issue.message}`;
    throw new Fault("invalidInput", `Cannot open model ${JSON.stringify(ref)}: ${why}`, { cause });
  }
}

/** The description of a remote language model. */
export function remoteInfo(
  { kind, config, endpoint, knobs }: {
    readonly kind: string;
    readonly config: RemoteConfig;
    readonly endpoint: Pick<Endpoint, "remote" | "host">;
    readonly knobs: NonNullable<ModelInfo["knobs"]>;
  },
): ModelInfo {
  const known = knownModel(config.model);
  const contextTokens = config.contextTokens ?? known.contextTokens;
  return {
    id: `${kind}:${config.model}`.slice(0, 256),
    displayName: `${config.model} at ${endpoint.host}`.slice(0, 256),
    arch: known.arch,
    contextTokens,
    outputTokens: Math.min(config.outputTokens ?? known.outputTokens, contextTokens),
    backend: kind,
    supportsTools: true,
    remote: endpoint.remote,
    knobs: [...knobs],
    ...(config.price === undefined ? {} : { price: config.price }),
  };
}

// Sizes of well-known model families by name prefix, from their makers' documentation as of November 2025. Only
// certain values; remit.yaml (`contextTokens`, `outputTokens`) takes precedence. Input tokens, output tokens.

/** Assumptions about a model. */
interface KnownModel {
  readonly arch: string;
  readonly contextTokens: number;
  readonly outputTokens: number;
}

/** For an unknown model. */
const UNKNOWN: KnownModel = { arch: "unknown", contextTokens: 32_768, outputTokens: 4_096 };

/** The longest matching prefix wins. */
const FAMILIES: readonly (readonly [
  prefix: string,
  arch: string,
  contextTokens: number,
  outputTokens: number,
])[] = [
  ["claude-3-haiku", "claude", 200_000, 4_096],
  ["claude-3-opus", "claude", 200_000, 4_096],
  ["claude-3-5-haiku", "claude", 200_000, 8_192],
  ["claude-3-5-sonnet", "claude", 200_000, 8_192],
  ["claude-3-7-sonnet", "claude", 200_000, 64_000],
  ["claude-sonnet-4", "claude", 200_000, 64_000],
  ["claude-haiku-4-5", "claude", 200_000, 64_000],
  ["claude-opus-4", "claude", 200_000, 32_000],
  ["claude-opus-4-5", "claude", 200_000, 64_000],
  ["claude-", "claude", 200_000, 8_192],
  ["gpt-3.5-turbo", "gpt", 16_385, 4_096],
  ["gpt-4", "gpt", 8_192, 4_096],
  ["gpt-4-turbo", "gpt", 128_000, 4_096],
  ["gpt-4o", "gpt", 128_000, 16_384],
  ["gpt-4.1", "gpt", 1_047_576, 32_768],
  ["gpt-5", "gpt", 400_000, 128_000],
  ["gpt-5-chat", "gpt", 128_000, 16_384],
  ["gpt-oss", "gpt-oss", 131_072, 32_768],
  ["o1", "o-series", 200_000, 100_000],
  ["o1-mini", "o-series", 128_000, 65_536],
  ["o1-preview", "o-series", 128_000, 32_768],
  ["o3", "o-series", 200_000, 100_000],
  ["o4-mini", "o-series", 200_000, 100_000],
  ["gemini-2.", "gemini", 1_048_576, 65_536],
  ["gemini-2.0", "gemini", 1_048_576, 8_192],
];

/** The sizes of a model by its provider's name, with or without the maker before a slash. */
export function knownModel(name: string): KnownModel {
  const bare = name.toLowerCase().slice(name.lastIndexOf("/") + 1);
  const [best] = FAMILIES.filter(([prefix]) => bare.startsWith(prefix))
    .toSorted(([a], [b]) => b.length - a.length);
  if (best === undefined) return UNKNOWN;
  const [, arch, contextTokens, outputTokens] = best;
  return { arch, contextTokens, outputTokens };
}
