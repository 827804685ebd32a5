/** What backup and restore are handed of the store and the log. Wired in by main.ts. @module */

/** What a check of a whole log says. */
export interface CheckedLog {
  readonly ok: boolean;
  /** One sentence where it does not hold. */
  readonly why: string;
  readonly events: number;
  /** The hash of the kernel chain's last seal. */
  readonly head: string;
  /** Raw Ed25519 public key that it was checked with, base64url. */
  readonly receiptKey: string;
}

/** Databases and logs that no kernel is asked for. */
export interface BackupHands {
  /** Copies a database as it stands at one moment to a new file, also while others write it. */
  copy(path: string, into: string): Promise<void>;
  /**
   * Checks a kernel's database that nobody has open: its structure, then every chain and seal with the key in `keyFile`.
   * Rejects `storeCorrupt` where it is no store at all.
   */
  verify(
    path: string,
    options: { readonly keyFile: string; readonly head?: string },
  ): Promise<CheckedLog>;
}
