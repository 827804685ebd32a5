/** Keeps the operator's secrets in STATE/person: secrets.json, sealed with the key in the file secret_key. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import type { McpServerName } from "../../contracts/exchange/mod.ts";
import type { Secret } from "../../contracts/wire/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { DiskRead, DiskWrite } from "../../launch/disk/machine.ts";
import { isMcpSecretPlace, mcpOrigin } from "./mcp_place.ts";
import type { Places } from "../../launch/disk/places.ts";
import { type SealedSecret, SecretFile, type SecretPlace } from "./rules.ts";
import { makeSecretKey, openSecret, parseSecretKey, sealSecret } from "./seal_powers.ts";
import { isFleetSecret, isHookSecret } from "./hook_secret.ts";

const FILE = "secrets.json";
const KEY = "secret_key";
const GROUP_AND_OTHERS = 0o077;

/** The secrets of one state. */
export interface SecretKeep {
  /** Destinations without values, sorted by name. */
  list(): readonly SecretPlace[];
  /** Keeps a secret; says whether it replaced another. */
  set(secret: Secret): "added" | "replaced";
  /** Throws `notFound`. */
  remove(name: string): void;
  /** Digest of the kernel's sealed secrets; changes whenever one of them is set or removed. */
  digest(): string;
  /** The secrets for the kernel, opened. Throws `invalidInput` when one does not open. */
  load(): readonly Secret[];
  /** The secrets of one imported server, opened, for its loan only. Throws as `load`. */
  loadMcp(server: McpServerName): readonly Secret[];
  /** The value of a webhook's secret; undefined where none has that name. Throws as `load`. */
  loadHook(name: string): string | undefined;
  /** The token of a fleet's gateway, `fleet:HOST`; undefined where none is kept. Throws as `load`. */
  loadFleet(origin: string): string | undefined;
}

/** Secrets of imported servers, webhooks and fleets: the kernel never receives them. */
const notForKernel = (entry: SealedSecret): boolean =>
  isMcpSecretPlace(entry) || isHookSecret(entry) || isFleetSecret(entry);

type Disk = DiskRead & DiskWrite;

/** Reads a file that only its owner may read; undefined when there is none. Throws `refused` for looser modes. */
function readPrivate(disk: DiskRead, path: string): string | undefined {
  const bytes = disk.read(path);
  if (bytes === undefined) return undefined;
  if (((disk.stat(path)?.mode ?? 0) & GROUP_AND_OTHERS) !== 0) {
    throw new Fault("refused", `Cannot use "${path}": others can read it; make it 0600`);
  }
  return new TextDecoder().decode(bytes);
}

function parseFile(path: string, text: string | undefined): readonly SealedSecret[] {
  if (text === undefined) return [];
  try {
    return SecretFile.parse(JSON.parse(text)).secrets;
  } catch {
    // No cause: a parser's message repeats the text.
    throw new Fault(
      "invalidInput",
      `Cannot read "${path}": it is damaged; remove it and give the secrets again`,
    );
  }
}

/** Opens the secrets of a state. Refuses files that others could read. */
export function openSecretKeep(disk: Disk, places: Pick<Places, "person">): SecretKeep {
  const path = join(places.person, FILE);
  const keyPath = join(places.person, KEY);
  const entries = (): readonly SealedSecret[] => parseFile(path, readPrivate(disk, path));
  const readKey = (): Uint8Array | undefined => {
    const text = readPrivate(disk, keyPath);
    return text === undefined ? undefined : parseSecretKey(text);
  };
  const needKey = (): Uint8Array => {
    const key = readKey();
    if (key !== undefined) return key;
    throw new Fault(
      "notFound",
      `Cannot open the secrets: their key "${keyPath}" is gone; remove "${path}" and give them again`,
    );
  };
  const provideKey = (kept: readonly SealedSecret[]): Uint8Array => {
    if (kept.length > 0) return needKey();
    const found = readKey();
    if (found !== undefined) return found;
    disk.write(keyPath, `${makeSecretKey()}\n`, { mode: 0o600, fresh: true });
    return needKey();
  };
  const write = (secrets: readonly SealedSecret[]): void => {
    const sorted = [...secrets].sort((a, b) => a.name < b.name ? -1 : 1);
    const file = SecretFile.safeParse({ version: 1, secrets: sorted });
    if (!file.success) {
      throw new Fault("tooLarge", "Cannot keep the secret: there are 512 already");
    }
    disk.write(path, `${JSON.stringify(file.data, null, 2)}\n`, { mode: 0o600 });
  };
  const opened = (wanted: (entry: SealedSecret) => boolean): readonly Secret[] => {
    const kept = entries().filter(wanted);
    if (kept.length === 0) return [];
    const key = needKey();
    return kept.map((each) => openSecret(key, each));
  };
  return Object.freeze({
    list: () =>
      entries().map(({ name, origin, header, prefix }) => ({ name, origin, header, prefix })),
    set(secret: Secret): "added" | "replaced" {
      const kept = entries();
      const others = kept.filter(({ name }) => name !== secret.name);
      // Checked before writing: a key that does not open the other secrets must not seal a new one.
      const key = provideKey(others);
      for (const each of others) openSecret(key, each);
      write([...others, sealSecret(key, secret)]);
      return others.length === kept.length ? "added" : "replaced";
    },
    remove(name: string): void {
      const kept = entries();
      const others = kept.filter((each) => each.name !== name);
      if (others.length === kept.length) {
        throw new Fault("notFound", `Cannot remove secret "${name}": there is none of that name`);
      }
      write(others);
    },
    digest: () => {
      const kept = entries().filter((each) => !notForKernel(each));
      return sha256Hex(kept.length === 0 ? "" : JSON.stringify(kept));
    },
    load: () => opened((each) => !notForKernel(each)),
    loadMcp: (server: McpServerName) => opened(({ origin }) => origin === mcpOrigin(server)),
    loadHook: (name: string) =>
      opened((each) => isHookSecret(each) && each.name === name)[0]?.value,
    loadFleet: (origin: string) =>
      opened((each) => isFleetSecret(each) && each.origin === origin)[0]?.value,
  });
}

/**
 * The kernel's secrets of a state with their values, for its configuration; empty when none was set.
 *
 * @throws Fault `refused` for files that others can read, `invalidInput` for damaged ones or a wrong key, `notFound`
 * when the key is gone.
 */
export function loadSecrets(disk: Disk, places: Pick<Places, "person">): readonly Secret[] {
  return openSecretKeep(disk, places).load();
}
