/** A peer's card: found at the address that a person gave, read, its signatures verified. @module */
import { Fault } from "../../../contracts/fault.ts";
import { type PeerBinding, type PeerCard, readCard } from "./card.ts";
import { chooseInterface, type Spoken } from "./choose.ts";
import { CARD_UNITS } from "./limits.ts";
import type { PeerCrypto } from "./powers.ts";
import { type Signed, verifySignatures } from "./signature.ts";

/** A card that was found. */
export interface FoundCard {
  /** Where. */
  readonly url: string;
  readonly card: PeerCard;
  readonly signed: Signed;
  readonly spoken: Spoken;
}

/** What finding takes. */
export interface FindParts {
  readonly ask: typeof fetch;
  readonly cipher: PeerCrypto;
  readonly signal: AbortSignal;
}

const WELL_KNOWN = "/.well-known/agent-card.json";

/**
 * Finds the card at `url`: the address of a card, of a host, or of an endpoint.
 *
 * @throws Fault `upstream` when there is none, or none that can be used or trusted
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
      // An endpoint answers a GET with something else: its card lies at the well-known place.
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

/** A document's text; undefined when there is none. */
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
