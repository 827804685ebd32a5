/** The secrets of a kernel: those that are kept, which may change while it runs, and those that a command line lent. @module */
import type { Secret } from "../../contracts/mod.ts";

/** What the operator keeps, as of one moment. */
export interface KeptSecrets {
  readonly secrets: readonly Secret[];
  /** Of what is sealed. */
  readonly digest: string;
}

/** Secrets by name. */
export interface LentSecrets {
  /** For model services: a kept one, or one that was lent. */
  get(name: string): Secret | undefined;
  /** One that is kept. */
  kept(name: string): Secret | undefined;
  /** Of the kept ones. */
  digest(): string;
  /** Takes these for the kept ones from now on: what is not among them is gone. */
  keep(kept: KeptSecrets): void;
  /** Holds one in memory, as long as this kernel lives; a kept one of the same name stays. */
  lend(secret: Secret): void;
}

/** Makes the secrets of a kernel. */
export function makeLentSecrets(first: KeptSecrets): LentSecrets {
  let kept = first;
  const lent = new Map<string, Secret>();
  const find = (name: string): Secret | undefined =>
    kept.secrets.find((secret) => secret.name === name);
  return Object.freeze({
    get: (name: string) => find(name) ?? lent.get(name),
    kept: find,
    digest: () => kept.digest,
    keep: (next: KeptSecrets) => void (kept = next),
    lend(secret: Secret): void {
      lent.set(secret.name, Object.freeze({ ...secret }));
    },
  });
}
