/** Secrets of imported servers: kept sealed, and lent to the kernel for their server alone. @module */
import * as z from "zod";
import { Fault, present } from "../../../contracts/base/mod.ts";
import type { McpLoan, McpOAuth, McpServerName } from "../../../contracts/exchange/mod.ts";
import type { RegistryPowers } from "./store/store.ts";
import {
  mcpSecret,
  type McpSecretPlace,
  type OAuthPlace,
  parseMcpSecretValue,
  readMcpSecret,
} from "../../../config/secret/mcp_place.ts";
import { openSecretKeep, type SecretKeep } from "../../../config/secret/keep.ts";

const url = z.string().max(2_048).regex(/^https?:\/\//);
const OAuth = z.object({
  tokenEndpoint: url,
  clientId: z.string().min(1).max(2_048),
  clientSecret: z.string().max(4_096).optional(),
  resource: z.string().max(2_048),
  scope: z.string().max(4_096).optional(),
  accessToken: z.string().min(1).max(16_384),
  expiresAt: z.number().optional(),
  refreshToken: z.string().max(16_384).optional(),
}).strict();

/** The powers that keeping secrets needs. */
export type KeepPowers = Pick<RegistryPowers, "disk" | "places">;

function keepOf({ disk, places }: KeepPowers): SecretKeep {
  return openSecretKeep(disk, places);
}

/** Keeps a secret for a variable or header of a server. Throws `invalidInput`, never with the value. */
export function keepMcpSecret(
  powers: KeepPowers,
  server: McpServerName,
  place: Exclude<McpSecretPlace, OAuthPlace>,
  value: string,
): "added" | "replaced" {
  const bound = mcpSecret(server, place);
  if (readMcpSecret(bound) === undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot keep a secret for "${bound.name}": a server is handed no such variable or header`,
    );
  }
  const parsed = parseMcpSecretValue(value);
  if ("header" in place && !/^[\x20-\x7e]{1,8192}$/.test(parsed)) {
    throw new Fault(
      "invalidInput",
      "Cannot keep the secret: a header's value is one line of visible ASCII characters",
    );
  }
  return keepOf(powers).set({ ...bound, value: parsed });
}

/** Keeps a server's OAuth tokens. Throws `invalidInput`. */
export function keepMcpOAuth(powers: KeepPowers, server: McpServerName, oauth: McpOAuth): void {
  const parsed = OAuth.safeParse(oauth);
  if (!parsed.success) {
    throw new Fault("invalidInput", "Cannot keep the tokens: they are not of the expected form");
  }
  keepOf(powers).set({
    ...mcpSecret(server, { oauth: true }),
    value: parseMcpSecretValue(JSON.stringify(parsed.data)),
  });
}

/** All secrets of a server. Throws `invalidInput` where they cannot be opened. */
export function readMcpLoan(powers: KeepPowers, server: McpServerName): McpLoan {
  const env: Record<string, string> = {}, headers: Record<string, string> = {};
  let oauth: McpOAuth | undefined;
  for (const secret of keepOf(powers).loadMcp(server)) {
    const place = readMcpSecret(secret)?.place;
    if (place === undefined) continue;
    if ("env" in place) env[place.env] = secret.value;
    else if ("header" in place) headers[place.header] = secret.value;
    else oauth = readOAuth(secret.value, server);
  }
  return { server, env, headers, ...(oauth === undefined ? {} : { oauth }) };
}

/** Parses OAuth tokens; undefined for any other value. */
export function parseMcpOAuth(value: unknown): McpOAuth | undefined {
  const parsed = OAuth.safeParse(value);
  return parsed.success ? present<McpOAuth>(parsed.data) : undefined;
}

function readOAuth(text: string, server: McpServerName): McpOAuth {
  const oauth = parseMcpOAuth(JSON.parse(text));
  if (oauth !== undefined) return oauth;
  throw new Fault(
    "invalidInput",
    `Cannot use the tokens of "${server}": they are of another version; log in again: remit mcp login ${server}`,
  );
}

/** The variables, headers and tokens of a server that have a secret. */
export function mcpSecretsOf(powers: KeepPowers, server: McpServerName): readonly McpSecretPlace[] {
  return keepOf(powers).list().flatMap((each) => {
    const read = readMcpSecret(each);
    return read?.server === server ? [read.place] : [];
  });
}

/** Removes all secrets of a server. */
export function forgetMcpSecrets(powers: KeepPowers, server: McpServerName): void {
  const keep = keepOf(powers);
  for (const place of mcpSecretsOf(powers, server)) keep.remove(mcpSecret(server, place).name);
}
