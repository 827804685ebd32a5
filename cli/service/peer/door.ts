/** Whose a peer's credential is. A name that a peer gives itself counts for nothing. @module */
import { type PeerConfig, PeerName } from "../../../contracts/mod.ts";
import type { TokenBook } from "../../mcp_serve/token_book.ts";
import { type AccessTokenParts, issuerOf, provesPeer } from "./access_token.ts";
import { PEER_TOKEN, type PeerToken } from "./tokens.ts";

/** A peer that proved who it is, with what remit.yaml says of it. */
export interface KnownPeer {
  readonly name: PeerName;
  readonly config: PeerConfig;
}

/** What credentials are judged with. */
export interface PeerDoorParts extends AccessTokenParts {
  readonly peers: Readonly<Record<string, PeerConfig>>;
  readonly tokens: Pick<TokenBook<PeerToken>, "tryFind">;
}

/** Makes the judge: undefined for every credential that is nobody's, whatever is wrong with it. */
export function makePeerDoor(
  parts: PeerDoorParts,
): (token: string | null) => Promise<KnownPeer | undefined> {
  const known = Object.entries(parts.peers).map(([name, config]): KnownPeer => ({
    name: PeerName.parse(name),
    config,
  }));
  return async (token) => {
    if (token === null) return undefined;
    if (token.startsWith(PEER_TOKEN)) {
      const found = parts.tokens.tryFind(token);
      // One that shows tokens of an issuer has no other way in.
      return known.find(({ name, config }) => name === found?.peer && config.auth === undefined);
    }
    const issuer = issuerOf(token);
    if (issuer === undefined) return undefined;
    for (const peer of known) {
      const { auth } = peer.config;
      if (auth !== undefined && auth.issuer === issuer && await provesPeer(token, auth, parts)) {
        return peer;
      }
    }
    return undefined;
  };
}
