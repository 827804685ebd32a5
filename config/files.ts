/** Finds the layers of configuration for a folder. @module */
import { join } from "node:path";
import { sha256Hex } from "../port/digest.ts";
import { type MountPlace, placeConfig } from "./place.ts";
import { type ConfigFile, parseConfigText } from "./text.ts";
import { type Layer, type Merged, mergeLayers } from "./layers.ts";
import type { DiskRead } from "../launch/disk/machine.ts";
import { type Places, within } from "../launch/disk/places.ts";
import { isTrusted, parseTrusted, type Trusted } from "./trust.ts";

/** The name of configuration files. */
export const CONFIG_NAME = "remit.yaml";
const MAX_BYTES = 1_000_000;

/** Reads STATE/person/trusted.json. */
export function readTrusted(disk: Pick<DiskRead, "read">, places: Places): Trusted {
  const bytes = disk.read(join(places.person, "trusted.json"));
  return parseTrusted(bytes === undefined ? undefined : new TextDecoder().decode(bytes));
}

/** The bytes of a remit.yaml, from an untrusted folder perhaps; undefined when there is none. */
export function readConfigBytes(
  disk: Pick<DiskRead, "read">,
  path: string,
): Uint8Array | undefined {
  return disk.read(path, { most: MAX_BYTES });
}

function layerOf(
  disk: Pick<DiskRead, "read">,
  path: string,
): Omit<Layer, "trusted"> | undefined {
  const bytes = readConfigBytes(disk, path);
  return bytes === undefined ? undefined : { file: parseBytes(path, bytes) };
}

function parseBytes(shown: string, bytes: Uint8Array): ConfigFile {
  return parseConfigText(shown, new TextDecoder().decode(bytes));
}

/** The name shown for a file: in a mount's root by the mount's name, as agents call it, the same on every machine. */
function shownAs(dir: string, mounts: readonly MountPlace[]): string {
  const mount = mounts.find((each) => each.dir === dir);
  return join(mount === undefined ? dir : mount.name, CONFIG_NAME);
}

/**
 * Reads every layer for a run: the operator's own file, the folder's, those of mounted folders (which only narrow), and
 * the ceiling.
 *
 * @throws Fault `invalidInput` with `FILE:LINE:COLUMN`.
 */
export function loadConfig(
  disk: Pick<DiskRead, "read" | "real">,
  places: Places,
  options: { readonly folder: string; readonly mounts: readonly MountPlace[] },
): Merged {
  const trusted = readTrusted(disk, places);
  const layers: Layer[] = [];
  const own = layerOf(disk, places.config);
  if (own !== undefined) layers.push({ ...own, trusted: true });
  const folder = disk.real(options.folder) ?? options.folder;
  const seen = new Set<string>();
  const add = (dir: string, mayWiden: boolean): void => {
    if (seen.has(dir)) return;
    seen.add(dir);
    const path = join(dir, CONFIG_NAME);
    const bytes = readConfigBytes(disk, path);
    if (bytes === undefined) return;
    // INVARIANT: the trusted bytes are the parsed bytes: whoever writes here could swap the file between two reads.
    const file = parseBytes(shownAs(dir, options.mounts), bytes);
    layers.push({
      file: placeConfig(file, dir, options.mounts),
      trusted: mayWiden && isTrusted(trusted, dir, sha256Hex(bytes)),
    });
  };
  add(folder, true);
  for (const mount of options.mounts) add(mount.dir, within(folder, mount.dir));
  const ceiling = layerOf(disk, places.ceiling);
  if (ceiling !== undefined) layers.push({ ...ceiling, trusted: false });
  return mergeLayers(layers);
}
