/**
 * The agent card that describes this service to peers, signed with the service's key over its
 * canonical form (JWS, RFC 7515; JCS, RFC 8785). A2A 1.0, sections 4.4 and 8. Used by front.ts and
 * service/running_service.ts.
 * @module
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import type { Json, JsonObject } from "../../contracts/base/mod.ts";
import type { PeerConfig, ServeConfig, SkillConfig } from "../../contracts/policy/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

/** The service's Ed25519 key. */
export interface ServiceSigner {
  /** Raw public key, base64url. */
  readonly key: string;
  /** Signs a text; the signature is base64url. */
  sign(text: string): string;
}

const base64url = (text: string): string => Buffer.from(text, "utf8").toString("base64url");

/** The public key as a JWK. RFC 8037. */
function publicJwk(key: string): JsonObject {
  return { crv: "Ed25519", kty: "OKP", x: key };
}

/** The `kid` of a raw public key (base64url): the thumbprint of its JWK. RFC 7638. */
export function keyId(key: string): string {
  return createHash("sha256").update(canonicalJson(publicJwk(key))).digest("base64url");
}

/** JSON text of the key set at `/.well-known/jwks.json`. RFC 7517. */
export function keySetText(key: string): string {
  return canonicalJson({
    keys: [{ ...publicJwk(key), kid: keyId(key), alg: "EdDSA", use: "sig" }],
  });
}

/** Signs a text as JWS; both parts are base64url. RFC 7515. */
function jwsOf(
  payload: string,
  { signer, head }: { readonly signer: ServiceSigner; readonly head: JsonObject },
): { readonly protected: string; readonly signature: string } {
  const first = base64url(canonicalJson(head));
  return { protected: first, signature: signer.sign(`${first}.${base64url(payload)}`) };
}

/** A detached JWS of a text: `PROTECTED..SIGNATURE`. RFC 7515, appendix F. */
export function detachedJws(payload: string, signer: ServiceSigner): string {
  const { protected: head, signature } = jwsOf(payload, {
    signer,
    head: { alg: "EdDSA", kid: keyId(signer.key) },
  });
  return `${head}..${signature}`;
}

const FILE = "a2a_cards.json";
/** Maximum number of cards whose times are kept; the newest stay. */
const MAX_CARDS = 256;
const Times = z.record(z.string().max(128), z.int().min(0));

/**
 * Returns when a card with an ETag was first served, in milliseconds since 1970 at whole seconds,
 * so that `Last-Modified` survives a restart. STATE/person/a2a_cards.json.
 */
export function openCardTimes(
  disk: {
    read(path: string): Uint8Array | undefined;
    write(path: string, text: string, options: { readonly mode: number }): void;
  },
  person: string,
): (etag: string, now: number) => number {
  const path = join(person, FILE);
  return (etag, now) => {
    const bytes = disk.read(path);
    const times = parseTimes(bytes === undefined ? "{}" : new TextDecoder().decode(bytes));
    const found = times[etag];
    if (found !== undefined) return found;
    const at = Math.floor(now / 1_000) * 1_000;
    const kept = Object.entries({ ...times, [etag]: at }).slice(-MAX_CARDS);
    disk.write(path, `${JSON.stringify(Object.fromEntries(kept))}\n`, { mode: 0o600 });
    return at;
  };
}

/** A damaged file loses only its times. */
function parseTimes(text: string): Record<string, number> {
  try {
    const parsed = Times.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** The extension that other Remits look for: a repeated message gets its first answer. */
const ONCE = "urn:remit:a2a:once";

/** The contents of this service's card. */
export interface CardParts {
  readonly serve: ServeConfig;
  /** The address for peers, without a slash at its end. */
  readonly url: string;
  readonly version: string;
  /** Whether deliveries are offered: to this peer, or in the public card to any peer. */
  readonly push: boolean;
  /** Absent: the public card. */
  readonly peer?: PeerConfig;
}

/** The skill offered where remit.yaml names none. */
const ANYTHING: SkillConfig = {
  id: "ask",
  name: "Ask",
  description: "Takes a message in words and answers it, if its operator agrees.",
};

/** The skills on a card: the peer's, else those of its agent, else all. */
export function skillsFor(
  { skills = [] }: Pick<ServeConfig, "skills">,
  peer: PeerConfig | undefined,
): readonly SkillConfig[] {
  const offered = skills.filter(({ id, agent }) =>
    peer === undefined ||
    (peer.skills === undefined
      ? agent === undefined || agent === peer.agent
      : peer.skills.includes(id))
  );
  return skills.length === 0 ? [ANYTHING] : offered;
}

/**
 * Makes the card without its signature. No value is empty: protobuf's JSON omits empty values, and
 * a reader that uses a codec must sign and check the same bytes. Section 8.4.1.
 */
export function makeCard(parts: CardParts): JsonObject {
  return fullEntries(wholeCard(parts));
}

function wholeCard({ serve, url, version, push, peer }: CardParts): JsonObject {
  return {
    name: serve.name ?? "Remit",
    description: serve.description ?? "An agent that runs with what its operator handed it.",
    version,
    ...(serve.provider === undefined ? {} : { provider: serve.provider }),
    supportedInterfaces: [
      { url: `${url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: `${url}/a2a/v1`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: push,
      extendedAgentCard: true,
      extensions: [{
        uri: ONCE,
        description:
          "A message that is sent again with the same id in the same context is answered as the first time.",
      }],
    },
    securitySchemes: {
      bearer: {
        httpAuthSecurityScheme: {
          scheme: "Bearer",
          description: "A token that the operator gave, or an access token of an issuer it trusts.",
        },
      },
    },
    // No requirements are listed: one without scopes would be an empty value.
    defaultInputModes: [
      ...["text/plain", "text/markdown", "text/csv", "text/html", "application/json"],
      ...["application/pdf", "image/png", "image/jpeg", "application/octet-stream"],
    ],
    defaultOutputModes: ["text/plain", "text/markdown", "application/json"],
    skills: skillsFor(serve, peer).map((skill) => skillOf(skill)),
  };
}

function skillOf({ id, name, description, tags = [], examples = [] }: SkillConfig): JsonObject {
  return {
    ...{ id, name, description },
    // The specification requires at least one.
    tags: tags.length === 0 ? ["agent"] : [...tags],
    ...(examples.length === 0 ? {} : { examples: [...examples] }),
  };
}

/** A card as served. */
export interface SignedCard {
  readonly card: string;
  /** Quoted, as in HTTP's header. */
  readonly etag: string;
}

function fullEntries(value: JsonObject | readonly Json[]): JsonObject {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => {
      const kept = withoutEmpty(each);
      return kept === undefined ? [] : [[key, kept] as const];
    }),
  );
}

function withoutEmpty(value: Json): Json | undefined {
  if (value === "" || value === null) return undefined;
  if (typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const full = value.map(withoutEmpty).filter((each) => each !== undefined);
    return full.length === 0 ? undefined : full;
  }
  const full = fullEntries(value);
  return Object.keys(full).length === 0 ? undefined : full;
}

/** Signs a card. The public key is served under `url` and, for pinning, beside the signature. */
export function signCard(card: JsonObject, signer: ServiceSigner, url: string): SignedCard {
  const { protected: head, signature } = jwsOf(canonicalJson(card), {
    signer,
    head: {
      alg: "EdDSA",
      kid: keyId(signer.key),
      typ: "JOSE",
      jku: `${url}/.well-known/jwks.json`,
    },
  });
  const header = { jwk: publicJwk(signer.key) };
  const text = canonicalJson({ ...card, signatures: [{ protected: head, signature, header }] });
  return { card: text, etag: `"${sha256Hex(text).slice(0, 32)}"` };
}
