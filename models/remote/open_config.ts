/** What a remote backend is opened with, parsed. @module */
import { tryJson } from "./wire_json.ts";
import { Fault } from "../../contracts/fault.ts";
import { RemoteConfig } from "../../contracts/model_config.ts";
import type { ModelInfo } from "../../contracts/model.ts";
import type { OpenBody } from "../../contracts/wire_model.ts";
import type { Endpoint } from "./endpoint.ts";
import { knownModel } from "./known_models.ts";

/** Throws `invalidInput` with the place of what is wrong. */
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

/** What a remote language model says of itself. */
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
