/**
 * Finds the key for a provider's model: a kept secret, or a variable of the environment, which is read
 * here alone and only for the chosen model.
 * @module
 */
import { Fault } from "../../contracts/base/mod.ts";
import type { Secret } from "../../contracts/wire/mod.ts";
import { isThisMachine, type ProviderKind } from "./name.ts";
import { keyHeader, knownProvider } from "./providers.ts";
import { parseSecretValue, type SecretPlace } from "../../config/secret/rules.ts";

/** Where a key is, without its value. */
export type KeyPlace =
  | { readonly kind: "kept"; readonly secret: string }
  | { readonly kind: "environment"; readonly secret: string; readonly variable: string }
  /** `needed`: the provider is known to refuse requests without one. */
  | { readonly kind: "none"; readonly needed: boolean };

/** The sources of keys. */
export interface KeyParts {
  /** Kept secrets, without values. */
  readonly kept: readonly SecretPlace[];
  env(name: string): string | undefined;
}

/** The command that keeps a key for a provider, as a person types it. */
export function setCommand(kind: ProviderKind, url: string): string {
  const { header, prefix } = keyHeader(kind);
  const name = knownProvider(url)?.name ?? "my-key";
  const before = prefix === "" ? "" : ` --prefix '${prefix}'`;
  return `remit secret set ${name} --origin ${new URL(url).origin} --header ${header}${before}`;
}

/**
 * Finds the key for a URL: the secret that remit.yaml names, else the kept one of its origin, else
 * the provider's variable of the environment.
 *
 * @throws Fault `notFound` for a named secret that is not kept, `refused` for one of another origin,
 * `invalidInput` where several are kept for the origin
 */
export function findKey(
  model: { readonly kind: ProviderKind; readonly url: string; readonly secret?: string },
  parts: KeyParts,
): KeyPlace {
  const { kind, url } = model;
  const { origin } = new URL(url);
  if (model.secret !== undefined) {
    const named = parts.kept.find(({ name }) => name === model.secret);
    if (named === undefined) {
      throw new Fault(
        "notFound",
        `Cannot use the model at ${origin}: there is no secret "${model.secret}"; ` +
          `keep it with "${setCommand(kind, url).replace(/set \S+/, `set ${model.secret}`)}"`,
      );
    }
    if (named.origin !== origin) {
      throw new Fault(
        "refused",
        `Cannot use the model at ${origin}: the secret "${model.secret}" is for ${named.origin}`,
      );
    }
    return { kind: "kept", secret: named.name };
  }
  const here = parts.kept.filter((each) => each.origin === origin);
  const [first, second] = here;
  if (first !== undefined && second !== undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot use the model at ${origin}: it has several secrets (${
        here.map(({ name }) => name).join(", ")
      }); name one as "secret" in an entry of remit.yaml's models`,
    );
  }
  if (first !== undefined) return { kind: "kept", secret: first.name };
  const provider = knownProvider(url);
  const variable = provider?.variables.find((name) => (parts.env(name) ?? "").trim() !== "");
  if (provider !== undefined && variable !== undefined) {
    return { kind: "environment", secret: `env-${provider.name}`, variable };
  }
  if (
    isOrigin(parts.env("LAL_HOST"), origin) && (parts.env("LAL_AUTH_TOKEN") ?? "").trim() !== ""
  ) {
    return { kind: "environment", secret: "env-lal", variable: "LAL_AUTH_TOKEN" };
  }
  return { kind: "none", needed: provider !== undefined && !isThisMachine(url) };
}

function isOrigin(url: string | undefined, origin: string): boolean {
  return url !== undefined && URL.canParse(url) && new URL(url).origin === origin;
}

/**
 * Reads a key from the environment, for the kernel alone.
 *
 * @throws Fault `invalidInput` that names the variable and never its value
 */
export function readKey(
  model: { readonly kind: ProviderKind; readonly url: string },
  place: Extract<KeyPlace, { readonly kind: "environment" }>,
  env: KeyParts["env"],
): Secret {
  let value: string;
  try {
    value = parseSecretValue((env(place.variable) ?? "").trim());
  } catch {
    // No `cause`: it may reveal the value.
    throw new Fault(
      "invalidInput",
      `Cannot use ${place.variable}: its value is no key (one line of 8 to 8,192 visible characters)`,
    );
  }
  return { name: place.secret, value, origin: new URL(model.url).origin, ...keyHeader(model.kind) };
}

/** The fault of a missing key, with both ways to give one. */
export function noKey(kind: ProviderKind, url: string): Fault {
  const provider = knownProvider(url);
  const variable = provider?.variables[0];
  return new Fault(
    "unavailable",
    `Cannot use the model at ${new URL(url).host}: there is no key for it\n` +
      `  keep one:      ${setCommand(kind, url)}\n` +
      (variable === undefined ? "" : `  or only now:   export ${variable}=…`),
  );
}
