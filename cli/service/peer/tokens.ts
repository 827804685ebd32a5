/** Tokens that peers show: STATE/person/a2a_tokens.json holds hashes, each bound to one peer of remit.yaml. @module */
import * as z from "zod";
import { PeerName } from "../../../contracts/mod.ts";
import {
  KEPT_TOKEN,
  openTokenBook,
  type TokenBook,
  type TokenParts,
} from "../../mcp_serve/token_book.ts";

/** What every such token begins with. */
export const PEER_TOKEN = "remit_a2a_";

const Entry = z.object({ ...KEPT_TOKEN, peer: PeerName }).strict();
/** A peer's token, without the token. */
export type PeerToken = z.infer<typeof Entry>;

/** Opens the book of peers' tokens. */
export function openPeerTokens(parts: TokenParts): TokenBook<PeerToken> {
  return openTokenBook(parts, {
    ...{ file: "a2a_tokens.json", prefix: PEER_TOKEN, entry: Entry },
    listed: "remit a2a token list",
  });
}
