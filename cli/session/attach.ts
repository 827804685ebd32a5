/** Attachments to a person's message: files named after `@`, the output of their own commands. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import type { Mount } from "../../contracts/tool/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { makePathList, NEVER } from "../../text/path_list.ts";
import { cutFront, cutTo } from "../terminal/columns.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { Screen } from "../powers.ts";
import type { DiskRead, Environment } from "../../launch/disk/machine.ts";

/** Bytes of one file, or of one command's output. */
const MAX_BYTES = 65_536;
const MAX_FILES = 8;
const MENTION = /(?:^|(?<=\s))@([^\s]{1,512})/g;

/** A message with its attachments. */
export interface Said {
  readonly text: string;
  /** The sources of attachments, which the person did not write; absent: all words are the person's own. */
  readonly attached?: string;
}

/** Content between two marks that do not occur in it. */
export function fenced(title: string, content: string): string {
  let mark = "=====";
  while (content.includes(mark)) mark += "=";
  return `${mark} ${title}\n${content.replace(/\n$/, "")}\n${mark} end`;
}

/**
 * Takes each `@path` of a file as permission to read that one file, and shows so. A file in a mount is named by its path
 * for tools, so the agent reads it itself; any other file is read here, once, and its content joins the message as YELLOW.
 * Throws Fault `refused` for a path on the never-list, `tooLarge`, `notFound` for one that is no file.
 */
export function withMentions(text: string, parts: {
  readonly disk: Pick<DiskRead, "read" | "real" | "stat">;
  readonly environment: Pick<Environment, "cwd" | "env">;
  readonly mounts: readonly Mount[];
  readonly screen: Pick<Screen, "say" | "paint" | "width">;
}): Said {
  const { disk, environment, mounts, screen } = parts;
  const never = makePathList(NEVER.map((glob) => ({ glob, at: "built-in: never-list" })));
  const notes: string[] = [];
  const given: { readonly path: string; readonly content: string }[] = [];
  const seen = new Set<string>();
  for (const [, word = ""] of text.matchAll(MENTION)) {
    const named = [word, word.replace(/[.,;:!?)]+$/, "")].map((each) => absolute(environment, each))
      .find((path) => disk.stat(path) !== undefined);
    // A word such as @param names no file.
    if (named === undefined) continue;
    const path = disk.real(named) ?? named;
    if (seen.has(path)) continue;
    seen.add(path);
    const shown = displayText(word, { max: 200 });
    if (never.find(path) !== undefined || never.find(named) !== undefined) {
      throw new Fault("refused", `Cannot give "${shown}" to an agent: it is on the never-list`);
    }
    const mount = mounts.find(({ dir }) => path === dir || path.startsWith(`${dir}/`));
    if (mount !== undefined) {
      const inside = join(mount.name, path.slice(mount.dir.length));
      notes.push(`@${word} is ${inside}`);
      const line = `  @ ${shown}: it may read ${displayText(inside)} (mount)`;
      screen.say(screen.paint.dim(cutTo(line, screen.width - 1)));
      continue;
    }
    if (disk.stat(path)?.plain !== true) {
      throw new Fault(
        "notFound",
        `Cannot give "${shown}" to an agent: it is no file; for a folder start with --mount NAME=DIR`,
      );
    }
    if (given.length >= MAX_FILES) {
      throw new Fault("tooLarge", `Cannot give more than ${MAX_FILES} files with one message`);
    }
    const bytes = disk.read(path, { most: MAX_BYTES }) ?? new Uint8Array();
    given.push({ path, content: textIn(bytes, shown) });
    const tail = `: it reads this one file, ${bytes.length} bytes, as YELLOW`;
    const room = screen.width - tail.length - 5;
    const place = cutFront(displayText(path, { max: 1_000 }), room);
    screen.say(screen.paint.yellow(`  @ ${place}${tail}`));
  }
  if (notes.length === 0 && given.length === 0) return { text };
  const all = [
    text,
    ...(notes.length === 0 ? [] : [`(${notes.join("; ")})`]),
    ...given.map(({ path, content }) => fenced(`file ${path}`, content)),
  ].join("\n\n");
  const attached = given.map(({ path }) => `file ${path}`).join(", ").slice(0, 500);
  return given.length === 0 ? { text: all } : { text: all, attached };
}

function textIn(bytes: Uint8Array, shown: string): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  throw new Fault("invalidInput", `Cannot give "${shown}" to an agent: it is no text`);
}

/** The output of the person's own command, as a message to the agent. */
export function asSaid(line: string, { code, output }: CommandOutput): Said {
  const text = `I ran this in my own shell; it ended with ${code}.`;
  return {
    text: `${text}\n\n${fenced(`output of ${line}`, output)}`,
    attached: `output of the person's command ${line}`.slice(0, 500),
  };
}

/** The result of the person's own command. */
export interface CommandOutput {
  readonly code: number;
  /** At most {@link MAX_BYTES} characters of standard output and error together. */
  readonly output: string;
}

/** The lines of an output, safe to show. */
export function outputLines(output: string, width: number): string[] {
  return displayBlock(output.replace(/\n$/, ""), {
    prefix: "  │ ",
    max: MAX_BYTES,
    maxLines: 2_000,
    columns: width,
  });
}
