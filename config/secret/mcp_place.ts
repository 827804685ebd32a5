/** Secrets of imported servers in the keep: each bound to one server and one place in its reach. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { McpEnvName, McpServerName } from "../../contracts/exchange/mod.ts";
import type { Secret } from "../../contracts/wire/mod.ts";

/** Where a server's secret goes: a variable of its environment, a header of requests to it, its OAuth tokens. */
export type McpSecretPlace = { readonly env: string } | { readonly header: string } | OAuthPlace;

/** See {@link McpSecretPlace}. */
export interface OAuthPlace {
  readonly oauth: true;
}

type Bound = Pick<Secret, "name" | "origin" | "header" | "prefix">;

const HEADER = /^[a-z][a-z0-9-]{0,63}$/;
/** OAuth tokens and private keys are longer than a header's values. */
const MAX_VALUE = 65_536;

/** Stands in for an origin; no address has this form. */
export function mcpOrigin(server: McpServerName): string {
  return `mcp:${server}`;
}

function written(place: McpSecretPlace): string {
  if ("env" in place) return `env:${place.env}`;
  return "header" in place ? `header:${place.header}` : "oauth";
}

/** The name, origin and "header" under which the keep holds the secret. */
export function mcpSecret(server: McpServerName, place: McpSecretPlace): Bound {
  const origin = mcpOrigin(server), header = written(place);
  return { name: `${origin}/${header}`, origin, header, prefix: "" };
}

/** The destination of an entry of the keep; undefined for secrets that are not an imported server's. */
export function readMcpSecret(
  entry: Bound,
): { readonly server: McpServerName; readonly place: McpSecretPlace } | undefined {
  const [, named = ""] = /^mcp:(.*)$/s.exec(entry.origin) ?? [];
  const server = McpServerName.safeParse(named);
  const [, kind = "", name = ""] = /^([a-z]+)(?::(.*))?$/s.exec(entry.header) ?? [];
  const place = parsePlace(kind, name);
  if (!server.success || place === undefined) return undefined;
  const bound = mcpSecret(server.data, place);
  // Canonical only: two spellings would allow two secrets for one place.
  const same = bound.name === entry.name && bound.header === entry.header && entry.prefix === "";
  return same ? { server: server.data, place } : undefined;
}

function parsePlace(kind: string, name: string): McpSecretPlace | undefined {
  if (kind === "oauth" && name === "") return { oauth: true };
  if (kind === "env" && McpEnvName.safeParse(name).success) return { env: name };
  if (kind === "header" && HEADER.test(name)) return { header: name };
  return undefined;
}

/** Whether an entry belongs to an imported server. */
export function isMcpSecretPlace(entry: Bound): boolean {
  return readMcpSecret(entry) !== undefined;
}

/** Parses `mcp:SERVER/env:NAME`, `mcp:SERVER/header:NAME`, `mcp:SERVER/oauth`. Throws Fault `invalidInput`. */
export function parseMcpSecretName(text: string): string {
  const [origin = "", header = ""] = text.split("/", 2);
  if (isMcpSecretPlace({ name: text, origin, header, prefix: "" })) return text;
  throw new Fault(
    "invalidInput",
    "Cannot name a secret so: an imported server's is mcp:SERVER/env:VARIABLE or mcp:SERVER/header:NAME",
  );
}

/** Parses a value: 1 to 65,536 characters, no NUL. Throws Fault `invalidInput`, which never repeats the value. */
export function parseMcpSecretValue(text: string): string {
  if (text.length > 0 && text.length <= MAX_VALUE && !text.includes("\0")) return text;
  throw new Fault(
    "invalidInput",
    `Cannot keep the secret: a value has 1 to ${MAX_VALUE} characters, none of them NUL`,
  );
}
