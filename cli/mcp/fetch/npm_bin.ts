/** Which program of a fetched npm package is meant. @module */
import { join, posix } from "node:path";
import * as z from "zod";
import { Fault } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { DiskRead } from "../../hands.ts";

const LONGEST = 1_000_000;
const NAME = /^[A-Za-z0-9._-]{1,128}$/;

const Manifest = z.looseObject({
  name: z.string().max(214),
  bin: z.union([z.string().max(1_024), z.record(z.string().max(256), z.string().max(1_024))])
    .optional(),
});

/** A program of a package. */
export interface NpmBin {
  readonly name: string;
  readonly notes: readonly string[];
}

/** What is looked for, where. */
export interface BinWish {
  readonly package: string;
  readonly version: string;
  readonly bin?: string | undefined;
}

/** The folder of a package in a tree; undefined when it is not there. */
function packageFolder(
  disk: Pick<DiskRead, "list" | "stat">,
  tree: string,
  wish: Pick<BinWish, "package" | "version">,
): string | undefined {
  // One folder for each registry: there is one.
  return disk.list(join(tree, "npm"))
    .map((host) => join(tree, "npm", host, wish.package, wish.version))
    .find((folder) => disk.stat(folder)?.folder === true);
}

/**
 * Finds it as npx does: the one that is named, the only one, or the one of the package's own name.
 *
 * @throws Fault `refused` for a package without programs, with several, or whose program is not JavaScript
 */
export function findBin(disk: DiskRead, tree: string, wish: BinWish): NpmBin {
  const refused = (why: string): Fault =>
    new Fault("refused", `Cannot run "${wish.package}": ${why}`);
  const folder = packageFolder(disk, tree, wish);
  const bytes = folder === undefined ? undefined : disk.read(join(folder, "package.json"));
  if (folder === undefined || bytes === undefined || bytes.length > LONGEST) {
    throw refused("it has no package.json that can be read");
  }
  const bins = readBins(bytes, wish.package);
  if (bins === undefined) throw refused("its package.json is damaged");
  const names = [...bins.keys()];
  const own = wish.package.split("/").at(-1) ?? "";
  const oneFile = new Set(bins.values()).size === 1;
  const name = wish.bin ?? (oneFile ? names[0] : names.find((each) => each === own));
  if (name === undefined) {
    throw names.length === 0 ? refused("it has no program") : refused(
      `it has several programs; name one: npx -p ${wish.package} NAME, of ${
        names.slice(0, 8).map((each) => displayText(each, { max: 64 })).join(", ")
      }`,
    );
  }
  const file = bins.get(name);
  if (file === undefined || !NAME.test(name)) {
    throw refused(`it has no program "${displayText(name)}"`);
  }
  const path = join(folder, file);
  // The name is what a package says: it must lead to a file of the package.
  if (!`${disk.real(path) ?? ""}/`.startsWith(`${disk.real(folder) ?? folder}/`)) {
    throw refused(`its program "${name}" is not there`);
  }
  const start = new TextDecoder().decode((disk.read(path) ?? new Uint8Array()).subarray(0, 256));
  if (!isScript(file, start)) throw refused(`its program "${name}" is not JavaScript`);
  return { name, notes: [] };
}

function readBins(bytes: Uint8Array, name: string): ReadonlyMap<string, string> | undefined {
  let read: unknown;
  try {
    read = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
  const parsed = Manifest.safeParse(read);
  if (!parsed.success) return undefined;
  const { bin = {} } = parsed.data;
  const own = name.split("/").at(-1) ?? name;
  const entries = typeof bin === "string" ? [[own, bin] as const] : Object.entries(bin);
  return new Map(entries.map(([key, file]) => [key, posix.normalize(file)]));
}

/** By its ending, else by its first line. */
function isScript(file: string, start: string): boolean {
  if (/\.[cm]?[jt]s$/.test(file)) return true;
  return /^#!.*\b(?:node|deno|bun)\b/.test(start);
}
