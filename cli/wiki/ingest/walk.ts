/** The documents of a folder, as `wiki ingest` finds them. @module */
import { basename, join } from "node:path";
import { Fault, type SourceKind } from "../../../contracts/mod.ts";
import type { DiskRead } from "../../hands.ts";
import { within } from "../../disk/mounts.ts";
import type { Entry, WikiHands } from "../hands.ts";
import { type IgnoreLayer, isIgnored, readIgnore } from "./ignore.ts";
import { kindOfName } from "./kinds.ts";

/** A document that was found. */
export interface Walked {
  /** Real and absolute. */
  readonly path: string;
  /** Beneath the folder that was named. */
  readonly name: string;
  readonly kind: SourceKind;
  readonly bytes: number;
}

/** A folder that was not looked into. `path` is real and absolute, `name` is beneath the folder that was named. */
export type Unseen = Pick<Walked, "path" | "name">;

/** What was found, and what was not taken. */
export interface Walk {
  /** In stable order: by path, folders where they stand. */
  readonly files: readonly Walked[];
  /** Larger than the limit. */
  readonly large: readonly Walked[];
  readonly skipped: {
    /** By rules of .gitignore and .remitignore. */
    readonly ignored: number;
    readonly hidden: number;
    /** Keys and credentials: never taken. */
    readonly never: number;
    readonly links: number;
    /** Pipes, sockets and devices. */
    readonly special: number;
    /** Folders that builds make. */
    readonly built: number;
    /** Folders beneath 64 others. */
    readonly deep: number;
    /** Names that are not UTF-8: nothing can be opened by what is read of them. */
    readonly unnamed: number;
    /** By their extensions, the most frequent first. */
    readonly unknown: number;
  };
  readonly unknownKinds: readonly string[];
  /** Folders that could not be read, and why: what lies in them is not known. */
  readonly unread: readonly (Unseen & { readonly why: string })[];
  /** Folders that lie too deep to be entered. */
  readonly deep: readonly Unseen[];
}

/** What a walk is handed. */
export interface WalkParts {
  readonly disk: Pick<DiskRead, "read">;
  readonly wikis: Pick<WikiHands, "entries" | "look" | "isNever">;
  /** Folders that are not entered: Remit's state, wikis. Real and absolute. */
  readonly apart: readonly string[];
  /** Bytes of a file, at most. */
  readonly most: number;
}

const IGNORE_FILES = [".gitignore", ".remitignore"];
const IGNORE_BYTES = 1_000_000;
/** Folders in each other beneath the one that was named. */
const DEPTH = 64;
const FILES = 500_000;
/** Stands in a name for bytes that are not UTF-8. */
const NO_CHARACTER = "\u{fffd}";
/** What builds and package tools leave, by name; also any folder with a CACHEDIR.TAG. */
const BUILT: ReadonlySet<string> = new Set([
  ...["node_modules", "bower_components", "__pycache__", "venv", "target", "dist", "build", "out"],
  ...["coverage", "DerivedData"],
]);
/** Long lists that programs keep for themselves. */
const MADE: ReadonlySet<string> = new Set(["package-lock.json", "npm-shrinkwrap.json"]);

/** Walks a folder that was named. Links are not followed. Throws `tooLarge` above 500,000 files. */
export function walkFolder(parts: WalkParts, root: string): Walk {
  const { disk, wikis } = parts;
  const files: Walked[] = [];
  const large: Walked[] = [];
  const skipped = {
    ...{ ignored: 0, hidden: 0, never: 0, links: 0, special: 0, built: 0, unknown: 0, unnamed: 0 },
  };
  const unknown = new Map<string, number>();
  const unread: (Unseen & { readonly why: string })[] = [];
  const deep: Unseen[] = [];

  const rulesOf = (folder: string, depth: number): readonly IgnoreLayer[] =>
    IGNORE_FILES.flatMap((name) => {
      const path = join(folder, name);
      const found = wikis.look(path);
      if (found?.kind !== "file" || found.bytes > IGNORE_BYTES) return [];
      const bytes = disk.read(path);
      if (bytes === undefined) return [];
      return [{ depth, rules: readIgnore(new TextDecoder().decode(bytes)) }];
    });

  const take = (path: string, beneath: readonly string[]): void => {
    const name = beneath.at(-1) ?? "";
    const kind = MADE.has(name) ? undefined : kindOfName(name);
    if (kind === undefined) {
      skipped.unknown += 1;
      const dot = name.lastIndexOf(".");
      const extension = dot <= 0 ? "no extension" : name.slice(dot).toLowerCase();
      unknown.set(extension, (unknown.get(extension) ?? 0) + 1);
      return;
    }
    const bytes = wikis.look(path)?.bytes ?? 0;
    const found = { path, name: beneath.join("/"), kind, bytes };
    (bytes > parts.most ? large : files).push(found);
    if (files.length > FILES) {
      throw new Fault(
        "tooLarge",
        `Cannot take "${root}" in: it holds more than ${FILES} documents; name folders beneath it`,
      );
    }
  };

  const listed = (folder: string, above: readonly string[]): readonly Entry[] => {
    const found = wikis.entries(folder);
    if (typeof found !== "string") return found;
    unread.push({ path: folder, name: above.join("/") || basename(folder), why: found });
    return [];
  };

  const enter = (
    folder: string,
    above: readonly string[],
    layers: readonly IgnoreLayer[],
  ): void => {
    const own = [...layers, ...rulesOf(folder, above.length)];
    for (const { name, kind } of listed(folder, above)) {
      const path = join(folder, name);
      const beneath = [...above, name];
      if (parts.apart.some((each) => within(path, each))) continue;
      if (name.includes(NO_CHARACTER) && wikis.look(path) === undefined) {
        skipped.unnamed += 1;
        continue;
      }
      // Told apart from hidden ones, which most of them are: the person shall hear of it.
      if (wikis.isNever(beneath.join("/"))) skipped.never += 1;
      else if (name.startsWith(".")) skipped.hidden += 1;
      else if (kind === "link") skipped.links += 1;
      else if (kind === "folder") {
        const tagged = wikis.look(join(path, "CACHEDIR.TAG"))?.kind === "file";
        if (BUILT.has(name) || tagged) skipped.built += 1;
        else if (isIgnored(own, beneath, true)) skipped.ignored += 1;
        else if (beneath.length < DEPTH) enter(path, beneath, own);
        else deep.push({ path, name: beneath.join("/") });
      } else if (kind === "file") {
        if (isIgnored(own, beneath, false)) skipped.ignored += 1;
        else take(path, beneath);
      } else skipped.special += 1;
    }
  };

  if (wikis.isNever(root)) throw neverFault(root);
  enter(root, [], []);
  const unknownKinds = [...unknown].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .map(([name]) => name);
  return { files, large, skipped: { ...skipped, deep: deep.length }, unknownKinds, unread, deep };
}

/** A refusal to take in keys or credentials, named by hand or not. */
export function neverFault(path: string): Fault {
  return new Fault(
    "refused",
    `Cannot take "${basename(path)}" in: keys and credentials never become memory`,
  );
}
