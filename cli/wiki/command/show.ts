/** `wiki show PAGE|raw/FILE`: a page, or a source's lines. @module */
import { join } from "node:path";
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { flag } from "../../arguments/parse_arguments.ts";
import { readLines } from "../../../memory-wiki/host/answers.ts";
import {
  clearanceOf,
  marksOf,
  numberOf,
  type OpenWiki,
  pageNameOf,
  shownPath,
  withWiki,
} from "../command.ts";
import { numberedLines } from "../hit_lines.ts";
import type { Basic } from "../../powers.ts";

const MAX_LINE = 1_000_000;
/** Lines of one request to the wiki's process. */
const LINES_PER_REQUEST = 5_000;

/** Reads `--lines 10-20` or `--lines 10`. Throws `invalidInput`. */
function readSpan(text: string): { readonly from: number; readonly to: number } {
  const [, first = "", last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (first !== "" && from >= 1 && to >= from) return { from, to };
  throw new Fault("invalidInput", `Cannot read --lines "${text}": it is like 10-20, or 10`);
}

/** The file that an argument names: raw/NAME, index.md, log.md, or else a page. */
function fileNameOf(text: string): string {
  const raw = /^(?:.*\/)?(raw\/[^/]+)$/.exec(text)?.[1];
  if (raw !== undefined) return raw;
  return text === "index.md" || text === "log.md" ? text : `pages/${pageNameOf(text)}.md`;
}

/** Reads all lines of a wiki's file, or a span of them, within a clearance. */
export async function readWhole(
  wiki: OpenWiki,
  name: string,
  options: {
    readonly clearance: string;
    readonly from?: number;
    readonly to?: number;
    readonly version?: number | undefined;
  },
): Promise<ReturnType<typeof readLines>> {
  const { clearance, from = 1, to = MAX_LINE, version } = options;
  const pieces: string[] = [];
  let next = from;
  for (;;) {
    const read = readLines(
      await wiki.ask("read", {
        ...{ clearance, name, version, from: next },
        lines: Math.min(LINES_PER_REQUEST, to - next + 1),
      }),
    );
    if (read.to >= next) pieces.push(read.text);
    // A line longer than a response is returned cut; go on with the next line.
    const last = Math.max(read.to, next);
    if (read.to < next || last >= Math.min(to, read.of)) {
      return { ...read, from, to: read.to, text: pieces.join("\n") };
    }
    next = last + 1;
  }
}

export async function wikiShow(command: Command<Basic | "wikis">): Promise<number> {
  const { parsed, powers } = command;
  const name = fileNameOf(parsed.args[0] ?? "");
  const given = flag(parsed, "lines");
  const span = given === undefined ? {} : readSpan(given);
  const version = numberOf(command, "at", MAX_LINE, "whole");
  return await withWiki(command, async (wiki) => {
    const read = await readWhole(wiki, name, { clearance: clearanceOf(command), ...span, version });
    if (command.json) {
      printJson(command, read);
      return EXIT.success;
    }
    const { screen, environment } = powers;
    const at = shownPath(environment, join(wiki.place.folder, read.file));
    const about = [
      `${at}:${read.from}`,
      read.version === undefined ? "" : `version ${read.version}`,
      `lines ${read.from}-${read.to} of ${read.of}`,
      marksOf(command, read),
    ].filter((each) => each !== "");
    screen.say(screen.paint.dim(about.join("  ")));
    if (read.to < read.from) return EXIT.success;
    printLines(
      command,
      screen.outWidth === undefined
        ? read.text.split("\n").map((line) => displayText(line, { max: 100_000 }))
        : numberedLines(command, read.text, { from: read.from }),
    );
    return EXIT.success;
  });
}
