/** Rules for a secret: its name, its destination, its value. @module */
import * as z from "zod";
import { Fault, isLoopback } from "../../contracts/base/mod.ts";
import type { Secret } from "../../contracts/wire/mod.ts";
import { isMcpSecretPlace, parseMcpSecretName } from "./mcp_place.ts";
import { HOOK_PLACE, isFleetSecret } from "./hook_secret.ts";

/** A secret without its value: safe to show. */
export type SecretPlace = Omit<Secret, "value">;

const MIN_VALUE = 8;
const MAX_VALUE = 8_192;

// Headers that route, frame or account for a request: a secret in one would change the meaning of the request.
const RESERVED: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "cookie2",
  "date",
  "expect",
  "forwarded",
  "host",
  "http2-settings",
  "keep-alive",
  "origin",
  "range",
  "referer",
  "set-cookie",
  "set-cookie2",
  "te",
  "trailer",
  "trailers",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "via",
]);
const RESERVED_STARTS = ["proxy-", "sec-", "x-forwarded-", "access-control-"];

const wrong = (message: string): Fault => new Fault("invalidInput", message);

/** Parses a name: `[a-z][a-z0-9_-]{0,63}`. Throws `invalidInput`. */
export function parseSecretName(text: string): string {
  if (!/^[a-z][a-z0-9_-]{0,63}$/.test(text)) {
    throw wrong(
      "Cannot name a secret so: a name is a-z, then up to 63 of a-z, 0-9, _ and -",
    );
  }
  return text;
}

/** Parses the name of a kept secret, which may belong to an imported server. Throws `invalidInput`. */
export function parseKeptName(text: string): string {
  return text.startsWith("mcp:") ? parseMcpSecretName(text) : parseSecretName(text);
}

/** Parses an origin: https, or http to this machine, in the form of `URL.origin`. Throws `invalidInput`. */
export function parseSecretOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.origin === "null") {
    throw wrong(
      `Cannot bind a secret to "${text}": write an origin, such as https://api.example.org`,
    );
  }
  if (url.origin !== text) {
    throw wrong(`Cannot bind a secret to "${text}": its origin is written "${url.origin}"`);
  }
  if (url.protocol === "https:") return text;
  if (url.protocol === "http:" && isLoopback(url.hostname)) return text;
  throw wrong(
    `Cannot bind a secret to "${text}": only https keeps it secret on its way (http: this machine alone)`,
  );
}

/** Parses a header's name, into lower case. Throws `invalidInput` for a header that steers the request. */
export function parseSecretHeader(text: string): string {
  const name = text.toLowerCase();
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,64}$/.test(name)) {
    throw wrong(`Cannot put a secret into header "${text}": that is no header's name`);
  }
  if (RESERVED.has(name) || RESERVED_STARTS.some((start) => name.startsWith(start))) {
    throw wrong(`Cannot put a secret into header "${text}": that header steers the request itself`);
  }
  return name;
}

/** Parses the text before the value: up to 64 visible ASCII characters and spaces. Throws `invalidInput`. */
export function parseSecretPrefix(text: string): string {
  if (!/^[\x20-\x7e]{0,64}$/.test(text) || text.startsWith(" ")) {
    throw wrong("Cannot use that prefix: it is up to 64 visible ASCII characters");
  }
  return text;
}

/**
 * Parses a value as read from input: drops one line end. 8 to 8,192 visible ASCII characters.
 *
 * @throws Fault `invalidInput`, which never repeats the value.
 */
export function parseSecretValue(text: string): string {
  const value = text.replace(/\r?\n$/, "");
  // Answers are searched for secrets: removing a shorter one would remove ordinary words.
  if (value === "") {
    throw wrong("Cannot keep the secret: it is empty; type it at a terminal, or pipe it in");
  }
  if (value.length < MIN_VALUE || value.length > MAX_VALUE) {
    throw wrong(`Cannot keep the secret: a value has ${MIN_VALUE} to ${MAX_VALUE} characters`);
  }
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    throw wrong("Cannot keep the secret: a header's value is one line of visible ASCII characters");
  }
  return value;
}

const passes = (parse: (text: string) => string) => (text: string): boolean => {
  try {
    return parse(text) === text;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
};

/** Fields of AES-GCM, base64url. */
const SEAL = {
  nonce: z.string().regex(/^[A-Za-z0-9_-]{16}$/),
  tag: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
};

/** One entry of secrets.json: a destination, and the sealed value. One form each for: people's, imported servers', fleets' and webhooks' secrets. */
export const SealedSecret = z.union([
  z.object({
    name: z.string().refine(passes(parseSecretName)),
    origin: z.string().max(512).refine(passes(parseSecretOrigin)),
    header: z.string().refine(passes(parseSecretHeader)),
    prefix: z.string().refine(passes(parseSecretPrefix)),
    ...SEAL,
    sealed: z.string().regex(/^[A-Za-z0-9_-]{1,12000}$/),
  }).strict(),
  z.object({
    name: z.string().max(512),
    origin: z.string().max(64),
    header: z.string().max(256),
    prefix: z.literal(""),
    ...SEAL,
    sealed: z.string().regex(/^[A-Za-z0-9_-]{1,100000}$/),
  }).strict().refine(isMcpSecretPlace),
  z.object({
    name: z.string().refine(passes(parseSecretName)),
    origin: z.string().max(320),
    header: z.string().max(64),
    prefix: z.literal(""),
    ...SEAL,
    sealed: z.string().regex(/^[A-Za-z0-9_-]{1,12000}$/),
  }).strict().refine(isFleetSecret),
  z.object({
    name: z.string().refine(passes(parseSecretName)),
    origin: z.literal(HOOK_PLACE.origin),
    header: z.literal(HOOK_PLACE.header),
    prefix: z.literal(HOOK_PLACE.prefix),
    ...SEAL,
    sealed: z.string().regex(/^[A-Za-z0-9_-]{1,12000}$/),
  }).strict(),
]);
/** See {@link SealedSecret}. */
export type SealedSecret = z.infer<typeof SealedSecret>;

/** The content of secrets.json. */
export const SecretFile = z.object({
  version: z.literal(1),
  secrets: z.array(SealedSecret).max(512),
}).strict().refine(({ secrets }) =>
  new Set(secrets.map(({ name }) => name)).size === secrets.length
);
/** See {@link SecretFile}. */
export type SecretFile = z.infer<typeof SecretFile>;
