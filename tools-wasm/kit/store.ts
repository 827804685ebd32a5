/**
 * Installed plugins: STATE/person/tools/NAME, pinned by digest in STATE/person/tools/pins.json.
 * @module
 */
import { join } from "node:path";
import * as z from "zod";
import { Digest } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { PluginManifest, PluginName } from "../../contracts/tool/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { DiskRead, DiskWrite } from "../../launch/disk/machine.ts";
import type { Places } from "../../launch/disk/places.ts";
import type { PluginCode } from "./kit.ts";
import { checkSignature } from "./signature.ts";

/** A plugin as the kernel may load it. */
export interface InstalledPlugin {
  readonly manifest: PluginManifest;
  /** Absolute path of its module or script. */
  readonly file: string;
  /** Whether a key of remit.yaml's `toolKeys` has signed it. */
  readonly signed: boolean;
}

/** The contents of the store. */
export interface PluginStore {
  readonly plugins: readonly InstalledPlugin[];
  /** Plugins that differ from their reviewed version, and why. */
  readonly refused: readonly { readonly name: string; readonly why: string }[];
}

const Pins = z.object({
  version: z.literal(1),
  /** Name → SHA-256 of its manifest.json, which pins the code. */
  tools: z.record(PluginName, Digest),
}).strict();
type Pins = z.infer<typeof Pins>;

const PRIVATE = 0o077;
const MANIFEST = "manifest.json";

const rootOf = (places: Pick<Places, "person">): string => join(places.person, "tools");
const codeName = (manifest: PluginManifest): string =>
  manifest.engine === "script" ? "plugin.js" : "plugin.wasm";

function readPins(disk: DiskRead, root: string): Pins {
  const path = join(root, "pins.json");
  const bytes = disk.read(path);
  if (bytes === undefined) return { version: 1, tools: {} };
  if (((disk.stat(path)?.mode ?? 0) & PRIVATE) !== 0) {
    throw new Fault("refused", `Cannot use "${path}": others can read it; make it 0600`);
  }
  try {
    return Pins.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw new Fault(
      "invalidInput",
      `Cannot read "${path}": it is damaged; remove it and add the plugins again`,
      { cause },
    );
  }
}

function writePins(disk: DiskWrite, root: string, tools: Pins["tools"]): void {
  const sorted = Object.fromEntries(
    Object.entries(tools).sort(([a], [b]) => a < b ? -1 : 1),
  );
  disk.write(
    join(root, "pins.json"),
    `${JSON.stringify({ version: 1, tools: sorted }, null, 2)}\n`,
    { mode: 0o600 },
  );
}

/** Reads one plugin against its pin; returns a reason when it differs from the reviewed version. */
function readOne(
  disk: DiskRead,
  folder: string,
  pinned: { readonly name: string; readonly digest: string; readonly toolKeys: readonly string[] },
): InstalledPlugin | string {
  const bytes = disk.read(join(folder, MANIFEST));
  if (bytes === undefined) return "its manifest is gone";
  if (sha256Hex(bytes) !== pinned.digest) return "its manifest was changed";
  // The manifest was valid when it was pinned; another version of Remit may parse it differently.
  const parsed = PluginManifest.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
  if (!parsed.success) return "this version reads its manifest otherwise";
  const manifest = parsed.data;
  if (manifest.name !== pinned.name) return "its manifest is another plugin's";
  const file = join(folder, codeName(manifest));
  const code = disk.read(file);
  if (code === undefined) return "its code is gone";
  if (sha256Hex(code) !== manifest.sha256) return "its code was changed";
  const signature = checkSignature(manifest, pinned.toolKeys);
  if (signature === "wrong") return "its signature is wrong";
  return Object.freeze({ manifest, file, signed: signature === "known" });
}

/**
 * Reads every installed plugin; leaves out and names those that changed since their review.
 *
 * @throws Fault `invalidInput` or `refused` when pins.json is damaged or not private
 */
export function readPluginStore(
  disk: DiskRead,
  places: Pick<Places, "person">,
  toolKeys: readonly string[],
): PluginStore {
  const root = rootOf(places);
  const plugins: InstalledPlugin[] = [];
  const refused: { name: string; why: string }[] = [];
  for (const [name, digest] of Object.entries(readPins(disk, root).tools)) {
    const found = readOne(disk, join(root, name), { name, digest, toolKeys });
    if (typeof found === "string") {
      refused.push({ name, why: `${found}; review it again with "remit tool add"` });
    } else plugins.push(found);
  }
  return Object.freeze({ plugins, refused });
}

/**
 * Installed plugins for the kernel's configuration. Leaves out a plugin that changed on disk since
 * its review, and tells `onRefused` a sentence with its name and what to do.
 */
export function installedPlugins(
  disk: DiskRead,
  places: Pick<Places, "person">,
  options: {
    readonly toolKeys: readonly string[];
    readonly onRefused: (text: string) => void;
  },
): readonly InstalledPlugin[] {
  const { plugins, refused } = readPluginStore(disk, places, options.toolKeys);
  for (const { name, why } of refused) options.onRefused(`Cannot use plugin "${name}": ${why}`);
  return plugins;
}

/** Installs a reviewed plugin, replacing one of its name. Writes the pin last. */
export function installPlugin(
  disk: DiskRead & DiskWrite,
  places: Pick<Places, "person">,
  { manifest, code }: PluginCode,
): void {
  if (sha256Hex(code) !== manifest.sha256) {
    throw new Fault("refused", `Cannot add plugin "${manifest.name}": its hash is not its code's`);
  }
  const root = rootOf(places);
  const pins = readPins(disk, root);
  const folder = join(root, manifest.name);
  disk.makeFolder(folder, 0o700);
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  disk.write(join(folder, codeName(manifest)), code, { mode: 0o600 });
  disk.write(join(folder, MANIFEST), text, { mode: 0o600 });
  writePins(disk, root, { ...pins.tools, [manifest.name]: sha256Hex(text) });
}

/** Removes a plugin from the store. Throws `notFound`. */
export function removePlugin(
  disk: DiskRead & DiskWrite,
  places: Pick<Places, "person">,
  name: string,
): void {
  const root = rootOf(places);
  const { tools } = readPins(disk, root);
  const kept = Object.fromEntries(Object.entries(tools).filter(([each]) => each !== name));
  if (Object.keys(kept).length === Object.keys(tools).length) {
    throw new Fault("notFound", `Cannot remove plugin "${name}": there is none of that name`);
  }
  writePins(disk, root, kept);
  disk.remove(join(root, name));
}
