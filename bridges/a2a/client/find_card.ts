/** Finds a peer's card and verifies its signatures. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { chooseInterface, type PeerBinding, type PeerCard, readCard, type Spoken } from "./card.ts";
import { CARD_JSON, CARD_UNITS } from "./limits.ts";
import { canonicalizeAgentCard } from "@a2a-js/sdk";
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import { parseJson } from "../../../port/parse.ts";
import type { Clock } from "../../mcp/client/mod.ts";

/** A card with its signatures and the chosen interface. */
export interface FoundCard {
  readonly url: string;
  readonly card: PeerCard;
  readonly signed: Signed;
  readonly spoken: Spoken;
}

interface FindParts {
  readonly ask: typeof fetch;
  readonly cipher: PeerCrypto;
  readonly signal: AbortSignal;
}

const WELL_KNOWN = "/.well-known/agent-card.json";

/**
 * Finds a card; `url` is the address of a card, a host, or an endpoint.
 *
 * @throws Fault `upstream` without a usable and trustworthy card
 */
export async function findCard(
  url: string,
  pinned: { readonly endpoint: string; readonly binding: PeerBinding },
  parts: FindParts,
): Promise<FoundCard> {
  const { origin } = new URL(url);
  const get = async (at: URL): Promise<string> => {
    const text = await got(at, parts);
    if (text !== undefined) return text;
    throw new Fault("upstream", `Cannot read the peer's card: ${at.pathname} is not there`);
  };
  let last: unknown;
  for (const at of placesOf(url)) {
    const text = await got(at, parts);
    if (text === undefined) continue;
    let card: PeerCard;
    try {
      card = readCard(text);
    } catch (error) {
      // An endpoint answers GET with something else: try the well-known path.
      if (!(error instanceof Fault)) throw error;
      last ??= error;
      continue;
    }
    const spoken = chooseInterface(card, { card: at.href, pinned });
    const signed = await verifySignatures(card.raw, { origin, get, cipher: parts.cipher });
    return { url: at.href, card, signed, spoken };
  }
  if (last !== undefined) throw last;
  throw new Fault("upstream", `Cannot find the peer's card: there is none at ${origin}`);
}

function placesOf(url: string): readonly URL[] {
  const own = new URL(url);
  const known = new URL(WELL_KNOWN, own);
  return own.pathname === "/" || own.href === known.href ? [known] : [own, known];
}

/** A document's text; undefined when it is missing. */
async function got(at: URL, { ask, signal }: FindParts): Promise<string | undefined> {
  const answer = await ask(at, {
    headers: { accept: "application/json", "a2a-version": "1.0" },
    signal,
  });
  if (answer.status === 404 || answer.status === 405 || answer.status === 406) return undefined;
  if (!answer.ok) {
    throw new Fault(
      "upstream",
      `Cannot read the peer's card: ${at.pathname} answers ${answer.status}`,
    );
  }
  const text = await answer.text();
  if (text.length <= CARD_UNITS) return text;
  throw new Fault("upstream", `Cannot read the peer's card: it is longer than ${CARD_UNITS}`);
}

/** The verified signatures of a card: A2A 1.0, section 8.4; RFC 7515, 7517, 7638. */
interface Signed {
  /** Thumbprints of the keys whose signatures verified. */
  readonly keys: readonly string[];
  /** Sentences for a reviewer. */
  readonly notes: readonly string[];
}

interface SignatureParts {
  /** The card's origin, the only one that keys may come from. */
  readonly origin: string;
  /** Gets a document of that origin as text. */
  get(url: URL): Promise<string>;
  readonly cipher: PeerCrypto;
}

const MAX_SIGNATURES = 8;
const MAX_KEYS = 32;
const MEMBERS = { OKP: ["crv", "kty", "x"], EC: ["crv", "kty", "x", "y"] } as const;

interface Header {
  readonly alg: "EdDSA" | "ES256";
  readonly kid: string;
  readonly jku: string | undefined;
}

/**
 * Verifies signatures. A card with signatures of known keys, none of them valid, is refused.
 *
 * @throws Fault `upstream`
 */
async function verifySignatures(raw: JsonObject, parts: SignatureParts): Promise<Signed> {
  const given = raw["signatures"];
  const list = Array.isArray(given) ? given.slice(0, MAX_SIGNATURES) : [];
  if (list.length === 0) return { keys: [], notes: [] };
  const text = canonicalText(raw);
  const keys = new Set<string>();
  const notes: string[] = [];
  let wrong = 0;
  const sets = new Map<string, Promise<readonly JsonObject[]>>();
  for (const entry of list) {
    const header = headerOf(entry);
    if (header === undefined) {
      notes.push("a signature of its card is of a kind that is not understood");
      continue;
    }
    const url = header.jku !== undefined && URL.canParse(header.jku)
      ? new URL(header.jku)
      : undefined;
    const own = carriedKey(entry, header.kid);
    if (own === undefined && url?.origin !== parts.origin) {
      notes.push("a signature of its card names keys that do not lie at its own origin");
      continue;
    }
    const set = own ??
      (url === undefined ? Promise.resolve([]) : sets.get(url.href) ?? keysOf(url, parts));
    if (own === undefined && url !== undefined) sets.set(url.href, set);
    const key = await signer(entry, { header, text, set: await set, cipher: parts.cipher });
    if (key === undefined) wrong++;
    else keys.add(key);
  }
  if (keys.size === 0 && wrong > 0) {
    throw new Fault(
      "upstream",
      "Cannot trust the peer's card: its signature does not verify; somebody changed it, or signed it wrongly",
    );
  }
  return { keys: [...keys].slice(0, 8), notes };
}

function canonicalText(raw: JsonObject): string {
  // TRUST: from the peer, within limits; the SDK reads the fields of protocol 1.0.
  return canonicalizeAgentCard(raw as unknown as Parameters<typeof canonicalizeAgentCard>[0]);
}

function headerOf(entry: Json): Header | undefined {
  if (!isObject(entry) || typeof entry["protected"] !== "string") return undefined;
  let header: Json;
  try {
    const bytes = base64url(entry["protected"]);
    header = parseJson(new TextDecoder().decode(bytes), { ...CARD_JSON, depth: 4 });
  } catch {
    // A header that does not parse counts as unknown.
    return undefined;
  }
  // A critical extension (`crit`) is not supported.
  if (!isObject(header) || header["crit"] !== undefined) return undefined;
  const { alg, kid, jku } = header;
  if ((alg !== "EdDSA" && alg !== "ES256") || typeof kid !== "string") return undefined;
  return { alg, kid, jku: typeof jku === "string" ? jku : undefined };
}

async function keysOf(url: URL, { get }: SignatureParts): Promise<readonly JsonObject[]> {
  const set = parseJson(await get(url), CARD_JSON);
  const keys = isObject(set) ? set["keys"] : undefined;
  return (Array.isArray(keys) ? keys : []).slice(0, MAX_KEYS).filter(isObject);
}

/** The key inside a signature: useful only for pinning its thumbprint. */
function carriedKey(entry: Json, kid: string): Promise<readonly JsonObject[]> | undefined {
  const header = isObject(entry) ? entry["header"] : undefined;
  const jwk = isObject(header) ? header["jwk"] : undefined;
  return isObject(jwk) ? Promise.resolve([{ ...jwk, kid }]) : undefined;
}

/** The thumbprint of the key that signed; undefined when none of the keys did. */
async function signer(
  entry: Json,
  { header, text, set, cipher }: {
    readonly header: Header;
    readonly text: string;
    readonly set: readonly JsonObject[];
    readonly cipher: PeerCrypto;
  },
): Promise<string | undefined> {
  if (!isObject(entry)) return undefined;
  const { protected: head, signature } = entry;
  if (typeof head !== "string" || typeof signature !== "string") return undefined;
  const jwk = set.map((key) => key["kid"] === header.kid ? publicPart(key, header.alg) : undefined)
    .find((key) => key !== undefined);
  if (jwk === undefined) return undefined;
  const encoder = new TextEncoder();
  const data = encoder.encode(`${head}.${encoder.encode(text).toBase64(URL_SAFE)}`);
  try {
    if (!await cipher.verify({ alg: header.alg, jwk }, base64url(signature), data)) {
      return undefined;
    }
  } catch {
    // A malformed key or signature verifies nothing.
    return undefined;
  }
  return (await cipher.sha256(encoder.encode(JSON.stringify(jwk)))).toBase64(URL_SAFE);
}

const URL_SAFE = { alphabet: "base64url", omitPadding: true } as const;

function base64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}

/** The members of a key's thumbprint, in its order (RFC 7638). */
function publicPart(
  key: JsonObject,
  alg: Header["alg"],
): Readonly<Record<string, string>> | undefined {
  const kind = alg === "EdDSA" ? "OKP" : "EC";
  if (key["kty"] !== kind || key["crv"] !== (alg === "EdDSA" ? "Ed25519" : "P-256")) {
    return undefined;
  }
  const members = MEMBERS[kind].map((name) => [name, key[name]] as const);
  return members.every(([, value]) => typeof value === "string" && value.length <= 512)
    ? Object.fromEntries(members) as Readonly<Record<string, string>>
    : undefined;
}

/** The cryptography that card signatures need. */
export interface PeerCrypto {
  /** SHA-256. */
  sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
  /** Whether `signature` over `data` was made with this key. Rejects for a malformed key. */
  verify(
    key: { readonly alg: "EdDSA" | "ES256"; readonly jwk: Readonly<Record<string, string>> },
    signature: Uint8Array<ArrayBuffer>,
    data: Uint8Array<ArrayBuffer>,
  ): Promise<boolean>;
}

/** The powers of a peer's bridge. */
export interface PeerPowers {
  readonly clock: Clock;
  readonly cipher: PeerCrypto;
  /** Restores the global web classes that the SDK's transports need. */
  readonly restoreWeb: () => void;
  /** Sends the SDK's warnings to `to`. */
  readonly hearWarnings: (to: (text: string) => void) => void;
}
