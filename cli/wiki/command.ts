/** Shared by the `wiki` commands: opening a wiki, reading arguments, asking, wording. @module */
import { isAbsolute, relative } from "node:path";
import type { Colour, Label } from "../../contracts/authority/mod.ts";
import { Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import { PageName } from "../../contracts/memory/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Command } from "../command.ts";
import type { Basic, Powers } from "../powers.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { flag, has, oneOf } from "../arguments/parse_arguments.ts";
import { preparePlaces } from "../../launch/disk/places.ts";
import type { WikiLink } from "../../memory-wiki/host/powers.ts";
import { findWiki, type WikiPlace, type WikiWhere } from "./place.ts";

/** An open wiki: its place and the link to its process. */
export interface OpenWiki {
  readonly place: WikiPlace;
  readonly link: WikiLink;
  /** Calls an operation of the wiki's process; `body` is any value that JSON can hold. */
  ask(op: string, body: unknown): Promise<Json>;
}

/** The operator's own clearance; `--clearance` narrows it. */
export const EVERYTHING: Label = "secret";

const CHOSEN: Readonly<Record<WikiPlace["chosen"], string>> = {
  named: "",
  here: "",
  last: "  (the one last made; --wiki FOLDER names another)",
};

/** Opens a wiki, runs `work`, and closes the wiki, also after an error. */
export async function openWiki<T>(
  where: WikiWhere,
  place: WikiPlace,
  options: {
    readonly reads?: readonly string[];
    readonly create?: boolean;
    readonly readOnly?: boolean;
    /** Receives a line for each repair that opening made. */
    readonly say: (line: string) => void;
  },
  work: (wiki: OpenWiki) => Promise<T>,
): Promise<T> {
  const { powers, places } = where;
  preparePlaces(powers.disk, places, powers.environment.uid);
  const ring = openKeyRing(powers.disk, places);
  const stepUp = ring.stepUpKey();
  const link = await powers.wikis.open({
    folder: place.folder,
    stateFolder: place.state,
    kernel: places.kernel,
    reads: options.reads ?? [],
    create: options.create ?? false,
    readOnly: options.readOnly ?? false,
    trustedKeys: [ring.provideConsent().key, ...(stepUp === undefined ? [] : [stepUp])],
  });
  try {
    for (const each of link.status.repaired) options.say(displayText(each, { max: 300 }));
    return await work({ place, link, ask: (op, body) => link.ask(op, toJson(body)) });
  } finally {
    await link.close();
  }
}

/** Finds the wiki of a command, prints which one it is, and opens it for `work`. */
export async function withWiki<T>(
  command: Command<Basic | "wikis">,
  work: (wiki: OpenWiki) => Promise<T>,
  options: { readonly reads?: readonly string[]; readonly readOnly?: boolean } = {},
): Promise<T> {
  const place = findWiki(command);
  const { screen } = command.powers;
  const { folder, chosen } = place;
  screen.say(
    screen.paint.dim(`wiki  ${shownPath(command.powers.environment, folder)}${CHOSEN[chosen]}`),
  );
  const say = (line: string): void => screen.say(`  ${screen.paint.yellow("!")} ${line}`);
  return await openWiki(command, place, { ...options, say }, work);
}

/** A path, safe to show: relative to this folder, or absolute where that is shorter to read. */
export function shownPath({ cwd }: Pick<Powers["environment"], "cwd">, path: string): string {
  const near = relative(cwd, path);
  const far = isAbsolute(near) || near.startsWith("../../../") || near === "";
  return displayText(far ? path : near, { max: 1_000 });
}

/** The author named in changes: the user's name, at most 128 characters. */
export function operatorName({ environment }: Pick<Powers, "environment">): string {
  return (environment.env("USER") ?? `uid-${environment.uid}`).slice(0, 128);
}

/** The value of `--clearance`; by default everything. Throws `invalidInput`. */
export function clearanceOf({ parsed }: Pick<Command, "parsed">): Label {
  return oneOf(parsed, "clearance", ["public", "internal", "secret"]) ?? EVERYTHING;
}

/** Reads a page's name, also as `pages/NAME.md`, `[[NAME]]` or a title. Throws `invalidInput`. */
export function pageNameOf(text: string): PageName {
  const bare = /^(?:.*\/)?pages\/([^/]+)\.md$/.exec(text)?.[1] ??
    /^\[\[([^|\]]+)(?:\|[^\]]*)?\]\]$/.exec(text)?.[1] ?? text.replace(/\.md$/, "");
  // A title stands for the page whose name was derived from it.
  const titled = bare.toLowerCase().replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "");
  for (const each of bare.includes("/") ? [bare] : [bare, titled]) {
    const name = PageName.safeParse(each.normalize("NFC"));
    if (name.success) return name.data;
  }
  throw new Fault(
    "invalidInput",
    `Cannot read "${text}" as the name of a page: letters, digits and "-", as "wiki list" shows them`,
  );
}

/**
 * The number of a flag, from 0 or, for whole numbers, from 1 to `max`; undefined without the flag.
 * Throws `invalidInput`.
 */
export function numberOf(
  { parsed }: Pick<Command, "parsed">,
  name: string,
  max: number,
  kind: "whole" | "decimal" = "decimal",
): number | undefined {
  const given = flag(parsed, name);
  if (given === undefined) return undefined;
  const [pattern, words, min] = kind === "whole"
    ? [/^\d{1,12}$/, "whole number", 1] as const
    : [/^\d*\.?\d+$/, "number", 0] as const;
  const value = pattern.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Fault(
    "invalidInput",
    `Cannot read --${name} "${given}": it is a ${words} from ${min} to ${max}`,
  );
}

/**
 * Asks the operator to confirm; `--yes` confirms too, where `yes` allows the flag.
 *
 * @throws Fault `refused` when nobody is at a terminal, `denied` for another answer
 */
export async function askOperator(
  { powers, parsed }: Command<Basic | "keyboard">,
  what: string,
  prompt: string,
  { yes }: { readonly yes: boolean },
): Promise<void> {
  if (yes && has(parsed, "yes")) return;
  if (powers.keyboard === undefined) {
    throw new Fault(
      "refused",
      `Cannot ${what}: nobody is at a terminal to say yes${yes ? "; add --yes" : ""}`,
    );
  }
  // A decision without a flag is signed, so "y" does not suffice.
  const how = yes ? "y, or Enter for no" : "Type yes";
  const typed = (await powers.keyboard.line(`  ${prompt} ${how} › `))?.trim().toLowerCase();
  if (typed === "yes" || (yes && typed === "y")) return;
  throw new Fault("denied", `Cannot ${what}: you did not say yes`);
}

/** Colour and label where they differ from the usual YELLOW and internal, painted; else empty. */
export function marksOf(
  { powers }: Pick<Command, "powers">,
  { colour, label }: { readonly colour: Colour; readonly label: Label },
): string {
  const { paint } = powers.screen;
  return [
    colour === "RED" ? paint.red("RED") : colour === "BLUE" ? paint.cyan("BLUE") : "",
    label === "secret" ? paint.yellow("secret") : label === "public" ? "public" : "",
  ].filter((each) => each !== "").join(" ");
}

/** A time in milliseconds as UTC to the minute; `?` for one that no date can hold. */
export function momentText(at: number): string {
  const valid = Number.isFinite(at) && Math.abs(at) < 8e15;
  return valid ? new Date(at).toISOString().slice(0, 16).replace("T", " ") : "?";
}

/** `1 page`, `2 pages`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
