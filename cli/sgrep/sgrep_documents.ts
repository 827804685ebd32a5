/** Reads the operator's files as documents for `sgrep` and `sdiff`, and cuts passages. @module */
import { basename } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import type { Command } from "../command.ts";
import { absolute } from "../../launch/disk/places.ts";
import { shownPath } from "../wiki/command.ts";
import { kindOfName, looksLikeText } from "../../memory-wiki/host/ingest/kinds.ts";
import { neverFault, walkFolder } from "../../memory-wiki/host/ingest/walk.ts";
import type { Basic } from "../powers.ts";

/** A document. */
export interface SemanticDocument {
  /** The path to show: safe, relative to this folder. */
  readonly file: string;
  readonly text: string;
}

/** Some lines of a document. */
export interface SemanticPassage {
  readonly document: number;
  /** The number of its first line, from 1. */
  readonly line: number;
  readonly text: string;
}

/** Bytes of one document. */
const MAX_DOCUMENT_BYTES = 4_000_000;
const MAX_PASSAGE = 1_200;
/** Kinds of files that are text. */
const TEXT_KINDS: ReadonlySet<string> = new Set(["markdown", "text", "code", "csv", "json"]);

/** Reads one file. Throws `notFound`, `refused`, `invalidInput` without text, `tooLarge`. */
export function readDocument(command: Command<Basic | "wikis">, given: string): SemanticDocument {
  const { disk, environment, wikis } = command.powers;
  const path = disk.real(absolute(environment, given));
  if (path === undefined || disk.stat(path)?.folder === true) {
    throw new Fault("notFound", `Cannot read "${given}": there is no such file`);
  }
  if (wikis.isNever(path)) throw neverFault(path);
  if ((wikis.look(path)?.bytes ?? 0) > MAX_DOCUMENT_BYTES) {
    throw new Fault(
      "tooLarge",
      `Cannot read "${given}": it has more than ${MAX_DOCUMENT_BYTES} bytes`,
    );
  }
  const bytes = disk.read(path) ?? new Uint8Array();
  const kind = kindOfName(basename(path));
  if ((kind !== undefined && !TEXT_KINDS.has(kind)) || !looksLikeText(bytes)) {
    throw new Fault(
      "invalidInput",
      `Cannot read "${given}": it is no text; take it into a wiki with "wiki ingest", which reads it`,
    );
  }
  return { file: shownPath(environment, path), text: new TextDecoder().decode(bytes) };
}

/** At most `max` documents of files and folders, in order. Throws `notFound`. */
export function readDocuments(
  command: Command<Basic | "wikis">,
  paths: readonly string[],
  max: number,
): readonly SemanticDocument[] {
  const { disk, environment, wikis } = command.powers;
  const found: string[] = [];
  for (const given of paths) {
    const path = disk.real(absolute(environment, given));
    if (path === undefined) {
      throw new Fault("notFound", `Cannot search "${given}": there is no such file or folder`);
    }
    if (disk.stat(path)?.folder !== true) found.push(path);
    else {
      const walk = walkFolder({ disk, wikis, apart: [], most: MAX_DOCUMENT_BYTES }, path);
      found.push(...walk.files.filter(({ kind }) => TEXT_KINDS.has(kind)).map((each) => each.path));
    }
  }
  return [...new Set(found)].slice(0, max).map((path) => readDocument(command, path));
}

/** Joins paragraphs up to 1,200 characters, and cuts longer lines. */
export function passagesOf(document: SemanticDocument, number: number): readonly SemanticPassage[] {
  const passages: SemanticPassage[] = [];
  let [text, first] = ["", 1];
  const put = (): void => {
    if (text.trim() !== "") passages.push({ document: number, line: first, text: text.trim() });
    text = "";
  };
  document.text.split("\n").forEach((line, n) => {
    const ends = line.trim() === "" && text.length > MAX_PASSAGE / 3;
    if (ends || text.length + line.length > MAX_PASSAGE) put();
    if (text === "") first = n + 1;
    if (text !== "" || line.trim() !== "") text += `${line.slice(0, MAX_PASSAGE)}\n`;
  });
  put();
  return passages;
}
