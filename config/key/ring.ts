/** Finds, makes and replaces the person's key files in STATE/person. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import type { DiskRead, DiskWrite } from "../../launch/disk/machine.ts";
import {
  type KeyFile,
  makeKeyFile,
  openKey,
  parseKeyFile,
  type Signer,
} from "./person_key_powers.ts";
import type { Places } from "../../launch/disk/places.ts";

const CONSENT = "consent.key";
const STEP_UP = "stepup.key";
/** Signs agent cards and deliveries; answers no question. */
const SERVICE = "service.key";

/** The person's keys in one state. */
export interface KeyRing {
  /** Finds the consent key, or makes it at first use. */
  provideConsent(): Signer;
  /** Finds the key that signs agent cards and deliveries, or makes it at first use. */
  provideService(): Signer;
  /** Public key of the passphrase key; undefined before it was made. */
  stepUpKey(): string | undefined;
  openStepUp(passphrase: string): Signer;
  /** Makes the passphrase key and returns its public key. Throws `alreadyExists`. */
  createStepUp(passphrase: string): string;
  /** Checks the old passphrase, then replaces the key. Returns the new public key. */
  rotateStepUp(passphrase: string, next: string): string;
}

/** Opens the key ring of a state. Refuses a key file that others could read. */
export function openKeyRing(
  disk: DiskRead & DiskWrite,
  places: Pick<Places, "person">,
): KeyRing {
  const read = (name: string): KeyFile | undefined => {
    const path = join(places.person, name);
    const bytes = disk.read(path);
    if (bytes === undefined) return undefined;
    if (((disk.stat(path)?.mode ?? 0) & 0o077) !== 0) {
      throw new Fault("refused", `Cannot use key "${path}": others can read it; make it 0600`);
    }
    return parseKeyFile(new TextDecoder().decode(bytes));
  };
  const write = (name: string, file: KeyFile): void =>
    disk.write(join(places.person, name), `${JSON.stringify(file)}\n`, { mode: 0o600 });
  const needStepUp = (): KeyFile => {
    const file = read(STEP_UP);
    if (file === undefined) {
      throw new Fault(
        "notFound",
        'Cannot open the passphrase key: make one with "remit key create"',
      );
    }
    return file;
  };
  const provide = (name: string): Signer => {
    const found = read(name);
    if (found !== undefined) return openKey(found);
    write(name, makeKeyFile());
    // Read back: when two processes make the key at once, both must use the one that stayed.
    const kept = read(name);
    if (kept === undefined) throw new Fault("notFound", `Cannot find the key "${name}" just made`);
    return openKey(kept);
  };
  return Object.freeze({
    provideConsent: () => provide(CONSENT),
    provideService: () => provide(SERVICE),
    stepUpKey: () => read(STEP_UP)?.public,
    openStepUp: (passphrase: string) => openKey(needStepUp(), passphrase),
    createStepUp(passphrase: string): string {
      if (read(STEP_UP) !== undefined) {
        throw new Fault(
          "alreadyExists",
          'Cannot make key: there is one; replace it with "remit key rotate"',
        );
      }
      const file = makeKeyFile(passphrase);
      write(STEP_UP, file);
      return file.public;
    },
    rotateStepUp(passphrase: string, next: string): string {
      openKey(needStepUp(), passphrase);
      const file = makeKeyFile(next);
      write(STEP_UP, file);
      return file.public;
    },
  });
}
