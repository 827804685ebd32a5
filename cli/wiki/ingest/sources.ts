/** The arguments of `wiki ingest` as sources, and the trust that each gets. @module */
import { join } from "node:path";
import { type Colour, type Label, mixColour } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import type { SourceKind } from "../../../contracts/memory/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { Command } from "../../command.ts";
import { flag, oneOf } from "../../arguments/parse_arguments.ts";
import { absolute, within } from "../../../launch/disk/places.ts";
import { askOperator, operatorName, shownPath } from "../command.ts";
import { MAX_DOCUMENT_BYTES, type Trust } from "./files.ts";
import { kindOfAnswer, kindOfName, looksLikeText } from "../../../memory-wiki/host/ingest/kinds.ts";
import type { Basic } from "../../powers.ts";

/** One argument, ready to be taken in: a path, or bytes that were copied to a temporary file. */
export type Source =
  | { readonly kind: "folder"; readonly path: string; readonly shown: string }
  | { readonly kind: "file"; readonly path: string; readonly shown: string }
  | {
    readonly kind: "bytes";
    readonly path: string;
    readonly key: string;
    readonly document: SourceKind;
    readonly name: string;
    readonly origin: string;
    readonly shown: string;
  };

const DAY = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: DAY,
  w: 7 * DAY,
  y: 365 * DAY,
};

/** Milliseconds of `30d`, `12h`, `1y`. Throws `invalidInput`. */
function readTtl(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([mhdwy])$/.exec(text) ?? [];
  const value = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (value > 0) return value;
  throw new Fault("invalidInput", `Cannot read --ttl "${text}": it is like 12h, 30d, 8w or 1y`);
}

/** Whether a word names a page of the web. */
export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text);

/** Trust by flags, else by place; a person confirms a colour above the place's. */
export async function trustOf(
  command: Command<Basic | "keyboard">,
  place: { readonly colour: Colour; readonly label: Label; readonly shown: string },
): Promise<Trust> {
  const { powers, parsed } = command;
  const colour = oneOf(parsed, "colour", ["BLUE", "YELLOW", "RED"]) ?? place.colour;
  const label = oneOf(parsed, "label", ["public", "internal", "secret"]) ?? place.label;
  if (mixColour(colour, place.colour) !== colour) {
    await askOperator(
      command,
      `take ${place.shown} in as ${colour}`,
      `${place.shown} is ${place.colour} by where it comes from: trust it as ${colour}?`,
      { yes: false },
    );
  }
  const ttl = flag(parsed, "ttl");
  return {
    ...{ colour, label },
    owner: (flag(parsed, "owner") ?? operatorName(powers)).slice(0, 128),
    ...(ttl === undefined ? {} : { expiresAt: powers.environment.now() + readTtl(ttl) }),
  };
}

/** Trust by origin: web pages RED and public, everything else YELLOW and internal. */
export function placeTrust(text: string): { readonly colour: Colour; readonly label: Label } {
  return isUrl(text) ? { colour: "RED", label: "public" } : { colour: "YELLOW", label: "internal" };
}

/** Folders in which the system shows itself as files. */
const SYSTEM_FOLDERS = ["/proc", "/sys", "/dev"];

/**
 * A file or folder given by path. Throws `notFound`; `invalidInput` for pipes, sockets and devices;
 * `refused` for unreadable paths, system folders, Remit's state, the wiki itself and `/`.
 */
export function pathSource(command: Command<Basic | "wikis">, text: string, wiki: string): Source {
  const { powers, places } = command;
  const { disk, environment } = powers;
  const named = absolute(environment, text);
  if (SYSTEM_FOLDERS.some((each) => within(named, each))) {
    throw new Fault("refused", `Cannot take "${text}" in: it is the machine's own, no document`);
  }
  const path = disk.real(named);
  if (path === undefined) {
    throw new Fault("notFound", `Cannot take "${text}" in: there is no such file or folder`);
  }
  const state = disk.real(places.state) ?? places.state;
  if (within(path, state)) {
    throw new Fault("refused", `Cannot take "${text}" in: it is Remit's own state`);
  }
  if (path === "/" || within(path, wiki)) {
    throw new Fault(
      "refused",
      `Cannot take "${text}" in: ${
        path === "/" ? "name the folders beneath it" : "it is the wiki itself"
      }`,
    );
  }
  const found = powers.wikis.look(path)?.kind;
  if (found === undefined) {
    throw new Fault("refused", `Cannot take "${text}" in: it may not be looked at`);
  }
  if (found !== "file" && found !== "folder") {
    // Reading a pipe would wait for its writer; reading a device may never end.
    throw new Fault(
      "invalidInput",
      `Cannot take "${text}" in: it is neither a file nor a folder; what a program writes is taken as -`,
    );
  }
  return { kind: found, path, shown: shownPath(environment, path) };
}

/** Fetches a web page into a file beneath `folder`. Throws as `wikis.fetch`, `invalidInput`. */
export async function fetchedSource(
  command: Command<Basic | "interrupts" | "wikis">,
  text: string,
  folder: string,
): Promise<Source> {
  const { powers } = command;
  const { screen, wikis, disk } = powers;
  const stop = new AbortController();
  const unlisten = powers.interrupts.listen(() => stop.abort());
  screen.hint(`  getting ${displayText(text, { max: 200 })} …`);
  try {
    const { url, mediaType, bytes } = await wikis.fetch(text, stop.signal);
    const document = kindOfAnswer(mediaType, url);
    if (document === undefined) {
      throw new Fault(
        "invalidInput",
        `Cannot take "${text}" in: it is "${mediaType}", which is no document`,
      );
    }
    const path = join(folder, `${powers.environment.id("u")}`);
    disk.write(path, bytes);
    const { host, pathname } = new URL(url);
    const name = `${host}${pathname}`.slice(0, 512);
    // URLs that differ only in their fragment are one document.
    const key = new URL(text);
    key.hash = "";
    return {
      ...{ kind: "bytes", path, document, name, shown: displayText(text, { max: 300 }) },
      ...{ key: key.href.slice(0, 4_200), origin: url.slice(0, 4_096) },
    };
  } finally {
    unlisten();
    screen.hint("");
  }
}

/** Reads standard input into a file beneath `folder`. Throws `invalidInput`. */
export async function pipedSource(
  command: Command<Basic | "wikis">,
  folder: string,
): Promise<Source> {
  const { powers, parsed } = command;
  const name = flag(parsed, "name") ?? "stdin";
  const bytes = await powers.wikis.input(MAX_DOCUMENT_BYTES);
  if (bytes.length === 0) throw new Fault("invalidInput", "Cannot take - in: nothing came in");
  const document = kindOfName(name) ?? (looksLikeText(bytes) ? "text" : undefined);
  if (document === undefined) {
    throw new Fault(
      "invalidInput",
      "Cannot take - in: it is no text; say what it is with --name, as in --name report.pdf",
    );
  }
  const path = join(folder, powers.environment.id("i"));
  powers.disk.write(path, bytes);
  const shown = displayText(name, { max: 100 });
  return {
    kind: "bytes",
    path,
    key: `stdin:${name.slice(0, 4_000)}`,
    document,
    name: name.slice(0, 512),
    origin: "-",
    shown,
  };
}
