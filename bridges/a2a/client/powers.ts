/** What a bridge to a peer is handed beside its port. @module */
import type { Clock } from "../../mcp/client/mod.ts";

/** Cryptography, as far as a card's signature needs it. */
export interface PeerCrypto {
  /** SHA-256. */
  sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
  /** Whether `signature` over `data` is this key's. Rejects for a key that is none. */
  verify(
    key: { readonly alg: "EdDSA" | "ES256"; readonly jwk: Readonly<Record<string, string>> },
    signature: Uint8Array<ArrayBuffer>,
    data: Uint8Array<ArrayBuffer>,
  ): Promise<boolean>;
}

/** See {@link PeerCrypto}. */
export interface PeerPowers {
  readonly clock: Clock;
  readonly cipher: PeerCrypto;
  /** Gives the SDK the web classes that its transports need. */
  readonly restoreWeb: () => void;
  /** Where warnings of the SDK go. */
  readonly hearWarnings: (to: (text: string) => void) => void;
}
