/** Secrets as model services need them: those that are kept, and those that a command line lent. @module */
import type { Secret } from "../../contracts/mod.ts";

/** Secrets by name. */
export interface LentSecrets {
  get(name: string): Secret | undefined;
  /** Holds one in memory, as long as this kernel lives; a kept one of the same name stays. */
  lend(secret: Secret): void;
}

/** Makes the secrets of a kernel. */
export function makeLentSecrets(kept: readonly Secret[]): LentSecrets {
  const byName = new Map(kept.map((secret) => [secret.name, secret]));
  const lent = new Map<string, Secret>();
  return Object.freeze({
    get: (name: string) => byName.get(name) ?? lent.get(name),
    lend(secret: Secret): void {
      lent.set(secret.name, Object.freeze({ ...secret }));
    },
  });
}
