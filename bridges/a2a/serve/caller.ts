/** Who a request is from, as the gateway's door settled it before the protocol sees it. @module */
import type { PeerHolder } from "../../../contracts/wire_a2a.ts";

/** Who asks. */
export interface A2aCaller {
  /** The bearer token that came with the request; null where none did. It goes along with everything that is asked. */
  readonly token: string | null;
  /** Whose it is; absent where there is no token or nobody knows it. */
  readonly holder?: PeerHolder;
}

/** A caller that is known. */
export interface KnownCaller {
  readonly token: string;
  readonly holder: PeerHolder;
}

/** The caller, if it is known. */
export function knownCaller({ token, holder }: A2aCaller): KnownCaller | undefined {
  return token === null || holder === undefined ? undefined : { token, holder };
}
