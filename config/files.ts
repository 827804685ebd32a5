/** Finds the layers of configuration for a folder. @module */
import { join } from "node:path";
import { sha256Hex } from "../port/digest.ts";
import { type MountPlace, placeConfig } from "./place.ts";
import { type ConfigFile, parseConfigText } from "./text.ts";
import { type Layer, type Merged, mergeLayers } from "./layers.ts";
import type { DiskRead } from "../launch/disk/machine.ts";
import { within } from "../launch/disk/mounts.ts";
import type { Places } from "../launch/disk/places.ts";
import { isTrusted, parseTrusted, type Trusted } from "./trust.ts";

/** Name of a folder's configuration. */
export const CONFIG_NAME = "remit.yaml";
const MAX_BYTES = 1_000_000;

/** Reads STATE/person/trusted.json. */
export function readTrusted(disk: Pick<DiskRead, "read">, places: Places): Trusted {
  const bytes = disk.read(join(places.person, "trusted.json"));
  return parseTrusted(bytes === undefined ? undefined : new TextDecoder().decode(bytes));
}

/** Bytes of a remit.yaml, which may be anyone's; undefined when there is none. */
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

/** A file in a mount's root is called as agents call it: shorter, and the same on every machine. */
function shownAs(dir: string, mounts: readonly MountPlace[]): string {
  const mount = mounts.find((each) => each.dir === dir);
  return join(mount === undefined ? dir : mount.name, CONFIG_NAME);
}

/**
 * Reads every layer for a run: the ceiling, the operator's own file, the folder's, and those of
 * mounted folders, which narrow only.
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
    // INVARIANT: what is trusted and what is read are the same bytes: who writes here could swap the file in between.
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
