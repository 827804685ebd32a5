/** Which wiki a command means, and where its state lies. @module */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import type { Command } from "../command.ts";
import type { Basic, Powers } from "../powers.ts";
import { flag } from "../arguments/parse_arguments.ts";
import {
  absolute,
  makePrivateFolder,
  type Places,
  preparePlaces,
  within,
} from "../../launch/disk/places.ts";

/** What the functions here are handed: a command, or as much of one. */
export interface WikiWhere {
  readonly powers: Pick<Powers, "disk" | "environment" | "wikis">;
  readonly places: Places;
}

/** A wiki's folder and its state. */
export interface WikiPlace {
  /** Real and absolute. */
  readonly folder: string;
  /** STATE/wiki/ID. */
  readonly state: string;
  /** Why it is this one. */
  readonly chosen: "named" | "here" | "last";
}

const ID_LENGTH = 16;
const FOLDERS = ["raw", "pages"];
const FILES = ["AGENTS.md", "index.md", "log.md"];

/** The state folder of a wiki, by its real folder. */
function wikiState(places: Pick<Places, "wiki">, folder: string): string {
  const id = createHash("sha256").update(folder).digest("hex").slice(0, ID_LENGTH);
  return join(places.wiki, id);
}

const lastFile = (places: Pick<Places, "wiki">): string => join(places.wiki, "last");
const nameFile = (state: string): string => join(state, "folder");

/** Whether a folder looks like a wiki: raw/, pages/ and AGENTS.md, none of them a link. */
function looksLikeWiki({ powers }: WikiWhere, folder: string): boolean {
  const { wikis } = powers;
  return FOLDERS.every((name) => wikis.look(join(folder, name))?.kind === "folder") &&
    wikis.look(join(folder, "AGENTS.md"))?.kind === "file";
}

function isKnown({ powers, places }: WikiWhere, folder: string): boolean {
  return powers.disk.stat(wikiState(places, folder))?.folder === true;
}

/** The real folder of `--wiki` or of an argument. Throws `notFound`, `refused`. */
function realFolder(command: WikiWhere, given: string): string {
  const { disk, environment } = command.powers;
  const real = disk.real(absolute(environment, given));
  if (real === undefined || disk.stat(real)?.folder !== true) {
    throw new Fault("notFound", `Cannot use wiki "${given}": there is no such folder`);
  }
  return real;
}

function found(command: WikiWhere, folder: string, chosen: WikiPlace["chosen"]): WikiPlace {
  return { folder, state: wikiState(command.places, folder), chosen };
}

function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes).trimEnd();
}

/** The wiki that a folder is. Throws `notFound` for one that is none, or that this state does not know. */
export function resolveWiki(where: WikiWhere, given: string): WikiPlace {
  const folder = realFolder(where, given);
  if (!looksLikeWiki(where, folder)) {
    throw new Fault("notFound", `Cannot use "${given}": it is no wiki; ${make(where, given)}`);
  }
  if (!isKnown(where, folder)) throw unknown(where, given);
  return found(where, folder, "named");
}

/** Finds the wiki of `--wiki`, else of this folder or one above it, else the one last made. Throws `notFound`. */
export function findWiki(command: Command<Basic | "wikis">): WikiPlace {
  const { powers, places, parsed } = command;
  const { disk, environment } = powers;
  const named = flag(parsed, "wiki");
  if (named !== undefined) return resolveWiki(command, named);
  const start = disk.real(environment.cwd) ?? environment.cwd;
  for (let at = start;; at = dirname(at)) {
    if (looksLikeWiki(command, at) && isKnown(command, at)) return found(command, at, "here");
    if (at === dirname(at)) break;
  }
  const last = text(disk.read(lastFile(places)));
  if (last !== undefined && disk.real(last) === last && looksLikeWiki(command, last)) {
    if (isKnown(command, last)) return found(command, last, "last");
  }
  throw new Fault(
    "notFound",
    `Cannot find a wiki: there is none in this folder or above it, and none was made yet; ${
      make(command, "FOLDER")
    }, or name one with --wiki FOLDER`,
  );
}

const make = ({ powers }: WikiWhere, folder: string): string =>
  `make one with "${powers.environment.command} wiki init ${folder}"`;

function unknown({ powers }: WikiWhere, folder: string): Fault {
  return new Fault(
    "notFound",
    `Cannot use wiki "${folder}": its state is not here (it was moved, or came from elsewhere); take ` +
      `it in with "${powers.environment.command} wiki init ${folder}"`,
  );
}

/** Every wiki that this state knows, by folder. */
export function knownWikis(
  { powers, places }: WikiWhere,
): readonly Pick<WikiPlace, "folder" | "state">[] {
  const { disk } = powers;
  return disk.list(places.wiki).flatMap((id) => {
    const state = join(places.wiki, id);
    const folder = text(disk.read(nameFile(state)));
    return folder === undefined || disk.real(folder) !== folder ? [] : [{ folder, state }];
  });
}

/**
 * Makes what `wiki init FOLDER` needs: the folder if it is not there, its state, and the note that it is the last.
 * `adopted` tells that the folder was a wiki whose state was not here.
 *
 * @throws Fault `refused` for a folder that touches Remit's state or holds links where a wiki's own lie,
 * `alreadyExists` for a folder with files of those names that is no wiki
 */
export function makeWikiPlace(
  command: WikiWhere,
  given: string,
): WikiPlace & { readonly adopted: boolean; readonly known: boolean } {
  const { powers, places } = command;
  const { disk, environment } = powers;
  const refused = (why: string): Fault =>
    new Fault("refused", `Cannot make a wiki in "${given}": ${why}`);
  preparePlaces(disk, places, environment.uid);
  const path = absolute(environment, given);
  const there = disk.real(path);
  if (there !== undefined && disk.stat(there)?.folder !== true) throw refused("it is a file");
  const parent = disk.real(nearest(command, dirname(path)));
  if (parent === undefined) throw refused("there is no folder to make it in");
  // Of what is not there yet, the part that is there decides where it will be.
  const folder = there ??
    join(parent, path.slice(nearest(command, dirname(path)).length).replace(/^\/+/, ""));
  const state = disk.real(places.state) ?? places.state;
  if (within(folder, state) || within(state, folder)) throw refused("it holds Remit's own state");
  if (folder === "/" || folder === disk.real(environment.env("HOME") ?? "/")) {
    throw refused("a wiki wants a folder of its own");
  }
  const wiki = looksLikeWiki(command, folder);
  if (!wiki) {
    for (const name of [...FOLDERS, ...FILES]) {
      const kind = powers.wikis.look(join(folder, name))?.kind;
      if (kind === "link") throw refused(`"${name}" in it is a link`);
      if (kind !== undefined) {
        throw new Fault(
          "alreadyExists",
          `Cannot make a wiki in "${given}": there is a "${name}" already, and it is no wiki; name an empty folder`,
        );
      }
    }
  }
  const known = isKnown(command, folder);
  if (there === undefined) disk.makeFolder(folder, 0o755);
  if (disk.real(folder) !== folder) throw refused("a link lies on the way to it");
  const own = wikiState(places, folder);
  makePrivateFolder(disk, places.wiki, environment.uid);
  makePrivateFolder(disk, own, environment.uid);
  disk.write(nameFile(own), `${folder}\n`);
  return { folder, state: own, chosen: "named", adopted: wiki && !known, known };
}

/** The nearest folder at or above `path` that is there. */
function nearest({ powers }: WikiWhere, path: string): string {
  let at = path;
  while (powers.disk.real(at) === undefined && at !== dirname(at)) at = dirname(at);
  return at;
}

/** Keeps it as the wiki that commands without a word about it mean. */
export function rememberWiki({ powers, places }: WikiWhere, { folder }: WikiPlace): void {
  powers.disk.write(lastFile(places), `${folder}\n`);
}

/** Forgets the state of a wiki that could not be made, so that it can be tried again. */
export function forgetWiki({ powers }: WikiWhere, place: WikiPlace): void {
  if (basename(dirname(place.state)) === "wiki") powers.disk.remove(place.state);
}

/** The embedder that a wiki's vectors were last made with, as the operator called it. */
export function wikiEmbedder(
  { powers }: Pick<Command, "powers">,
  place: WikiPlace,
): string | undefined {
  const bytes = powers.disk.read(join(place.state, "embedder"));
  const text = bytes === undefined ? "" : new TextDecoder().decode(bytes).trim();
  return text === "" ? undefined : text;
}

/** Keeps it. */
export function keepEmbedder(
  { powers }: Pick<Command, "powers">,
  place: WikiPlace,
  text: string,
): void {
  powers.disk.write(join(place.state, "embedder"), `${text}\n`);
}
