/** The wiki that a command works on, and its state folder: finding and making them. Used by commands over wikis, `run` and `mcp serve`. @module */
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

/** The powers that finding a wiki needs: some of the basic ones, and `wikis`. */
export interface WikiWhere {
  readonly powers: Pick<Powers, "disk" | "environment" | "wikis">;
  readonly places: Places;
}

/** A wiki's folder and its state. */
export interface WikiPlace {
  /** Real and absolute. */
  readonly folder: string;
  /** Its folder in Remit's state folder: STATE/wiki/ID. */
  readonly state: string;
  /** How it was chosen: by a flag, by this folder, or as the wiki made last. */
  readonly chosen: "named" | "here" | "last";
}

const ID_LENGTH = 16;
const FOLDERS = ["raw", "pages"];
const FILES = ["AGENTS.md", "index.md", "log.md"];

/** STATE/wiki/ID of a wiki; the id is a hash of its real path. */
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

/** The wiki in a folder. Throws `notFound` where it is no wiki or its state is not here. */
export function resolveWiki(command: WikiWhere, given: string): WikiPlace {
  const folder = realFolder(command, given);
  if (!looksLikeWiki(command, folder)) {
    throw new Fault("notFound", `Cannot use "${given}": it is no wiki; ${make(command, given)}`);
  }
  if (!isKnown(command, folder)) {
    throw new Fault(
      "notFound",
      `Cannot use wiki "${given}": its state is not here (it was moved, or came from elsewhere); take ` +
        `it in with "${command.powers.environment.command} wiki init ${given}"`,
    );
  }
  return found(command, folder, "named");
}

const isWikiHere = (command: WikiWhere, folder: string): boolean =>
  looksLikeWiki(command, folder) && isKnown(command, folder);

/** The wiki of `--wiki`, else of this folder or one above, else the last one. Throws `notFound`. */
export function findWiki(command: Command<Basic | "wikis">): WikiPlace {
  const { powers, places, parsed } = command;
  const { disk, environment } = powers;
  const named = flag(parsed, "wiki");
  if (named !== undefined) return resolveWiki(command, named);
  const start = disk.real(environment.cwd) ?? environment.cwd;
  for (let at = start;; at = dirname(at)) {
    if (isWikiHere(command, at)) return found(command, at, "here");
    if (at === dirname(at)) break;
  }
  const last = text(disk.read(lastFile(places)));
  if (last !== undefined && disk.real(last) === last && isWikiHere(command, last)) {
    return found(command, last, "last");
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

/** Every wiki of this state folder; wikis whose folder moved are left out. */
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
 * Makes the folder of `wiki init FOLDER` if it is missing, and its state folder. `adopted`: it was
 * a wiki whose state was not here; `known`: its state was here, too.
 *
 * @throws Fault `refused` for a folder that touches Remit's state or has links in place of a wiki's
 * files, `alreadyExists` for a folder with files of those names that is no wiki
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
  // The existing part of the path decides where a missing folder will really lie.
  const folder = there ??
    join(parent, path.slice(nearest(command, dirname(path)).length).replace(/^\/+/, ""));
  const state = disk.real(places.state) ?? places.state;
  if (within(folder, state) || within(state, folder)) {
    throw refused("it overlaps Remit's own state");
  }
  if (folder === "/" || folder === disk.real(environment.env("HOME") ?? "/")) {
    throw refused("a wiki needs its own folder");
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

/** The nearest existing folder at or above `path`. */
function nearest({ powers }: WikiWhere, path: string): string {
  let at = path;
  while (powers.disk.real(at) === undefined && at !== dirname(at)) at = dirname(at);
  return at;
}

/** Remembers the wiki as the default of commands that name none. */
export function rememberWiki({ powers, places }: WikiWhere, { folder }: WikiPlace): void {
  powers.disk.write(lastFile(places), `${folder}\n`);
}

/** Removes the state of a wiki that could not be made, so that `wiki init` can be tried again. */
export function forgetWiki({ powers }: WikiWhere, place: WikiPlace): void {
  // Never removes anything outside STATE/wiki.
  if (basename(dirname(place.state)) === "wiki") powers.disk.remove(place.state);
}

/** The reference of the embedder that made a wiki's vectors last, as the operator gave it. */
export function wikiEmbedder(
  { powers }: Pick<Command, "powers">,
  place: WikiPlace,
): string | undefined {
  return text(powers.disk.read(join(place.state, "embedder"))) || undefined;
}

/** Records the embedder of a wiki's vectors; see {@link wikiEmbedder}. */
export function keepEmbedder(
  { powers }: Pick<Command, "powers">,
  place: WikiPlace,
  embedder: string,
): void {
  powers.disk.write(join(place.state, "embedder"), `${embedder}\n`);
}
