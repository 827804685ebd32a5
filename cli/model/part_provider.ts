/** Resolves a provider's model: its name, key and configuration. @module */
import type { AskedProvider } from "../../contracts/model/mod.ts";
import { Fault, present } from "../../contracts/base/mod.ts";
import { RemoteConfig } from "../../contracts/model/mod.ts";
import type { ModelSettings } from "./alias.ts";
import { findKey, noKey, readKey } from "./keys.ts";
import { isThisMachine, type ModelName, type ProviderKind, providerRef } from "./name.ts";
import { knobs, type ModelFlags, type ModelPart, type ModelParts, parseSettings } from "./part.ts";
import { serverModels } from "./server.ts";

/** A server that a reference names by URL alone. */
type Server = { readonly kind: ProviderKind; readonly url: string };

const nameIt = ({ kind, url }: Server): string => `write ${kind}:NAME@${url}`;

/** The fault of a URL without a model's name. */
export function namesNoModel(text: string, server: Server): Fault {
  return new Fault(
    "invalidInput",
    `Cannot use model "${text}": it names no model; ${nameIt(server)}`,
  );
}

/** The only model of a server on this machine. Throws `invalidInput` for none or several. */
async function onlyModel(
  text: string,
  server: Server,
  { models }: Pick<ModelParts, "models">,
): Promise<string> {
  const names = isThisMachine(server.url) ? await serverModels(models.http, server) : undefined;
  const [first, ...rest] = names ?? [];
  if (first !== undefined && rest.length === 0) return first;
  if (names === undefined) throw namesNoModel(text, server);
  const why = first === undefined
    ? "that server has no model; give it one first"
    : `that server has several models; ${nameIt(server)}, where NAME is ${
      [first, ...rest].slice(0, 20).join(", ")
    }`;
  throw new Fault("invalidInput", `Cannot use model "${text}": ${why}`);
}

/**
 * Resolves a provider's model.
 *
 * @throws Fault `invalidInput` without a name, `unavailable` without a key that is needed
 */
export async function providerPart(
  text: string,
  name: Extract<ModelName, { readonly kind: ProviderKind }>,
  settings: ModelSettings,
  parts: ModelParts,
  flags: ModelFlags,
): Promise<ModelPart> {
  const { kind, url } = name;
  const model = name.model ?? await onlyModel(text, { kind, url }, parts);
  const key = findKey(
    { kind, url, ...present({ secret: settings.secret }) },
    { kept: parts.kept(), env: parts.environment.env },
  );
  if (key.kind === "none" && key.needed) throw noKey(kind, url);
  const config = parseSettings(text, RemoteConfig, {
    model,
    url,
    ...(key.kind === "none" ? {} : { secret: key.secret }),
    ...knobs(settings, flags),
    ...present({ price: settings.price, rates: settings.rates }),
    ...(flags.noWait === true ? { noWait: true } : {}),
    ...(parts.redact.length === 0 ? {} : { redact: [...parts.redact] }),
    ...(flags.record === true ? { record: true } : {}),
  });
  const at = new URL(url);
  const ref = providerRef(kind, model, url);
  const asked: AskedProvider = {
    ref,
    host: at.host,
    model,
    encrypted: at.protocol === "https:",
    price: settings.price,
  };
  return {
    choice: { ref, config: JSON.stringify(config) },
    program: "remote",
    ...(key.kind === "environment"
      ? { lend: readKey({ kind, url }, key, parts.environment.env) }
      : {}),
    ...(isThisMachine(url) ? {} : { provider: asked }),
  };
}
