/** `wiki export --to DIR`: writes a static site; each path that the wiki's process sends is checked. @module */
import { dirname, join } from "node:path";
import * as z from "zod";
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import type { Basic, Powers } from "../../powers.ts";
import { flag } from "../../arguments/parse_arguments.ts";
import { absolute, type Places, within } from "../../../launch/disk/places.ts";
import { readExported } from "../../../memory-wiki/host/answers.ts";
import { clearanceOf, counted, marksOf, shownPath, withWiki } from "../command.ts";
import { findWiki } from "../place.ts";

/** A file that marks a folder as an export and lists the files written, one a line. */
export const EXPORT_MARK = ".remit-export";
const HEAD = "Remit wrote the files below; the next export replaces them.";
const MAX_FILES = 200_000;
const FileEvent = z.object({ path: z.string().min(1).max(400), text: z.string() });

/** Parts of a path beneath the export's folder. Throws `refused` for any other path. */
export function exportPath(path: string): readonly string[] {
  const parts = path.split("/");
  // deno-lint-ignore no-control-regex -- it looks for them
  const wrong = /[\x00-\x1f\x7f\\:*?"<>|]/;
  const fits = parts.length <= 8 &&
    parts.every((part) =>
      part !== "" && !part.startsWith(".") && part.length <= 200 && !wrong.test(part)
    );
  if (fits) return parts;
  throw new Fault("refused", `Cannot export "${path}": it is no plain path beneath the folder`);
}

/** The powers that writing an export needs. */
export interface ExportParts {
  readonly powers: Pick<Powers, "disk" | "wikis">;
  readonly places: Places;
}

/** Opens a folder that is empty or an earlier export. Throws `alreadyExists`, `refused`. */
function openExport(
  { powers, places }: ExportParts,
  folder: string,
  apart: readonly string[],
): { write(path: string, text: string): void; finish(): number } {
  const { disk, wikis } = powers;
  const mark = join(folder, EXPORT_MARK);
  const there = disk.real(folder);
  for (const each of [disk.real(places.state) ?? places.state, ...apart]) {
    const place = there ?? folder;
    if (within(place, each) || within(each, place)) {
      throw new Fault(
        "refused",
        `Cannot export to "${folder}": it touches the wiki or Remit's state`,
      );
    }
  }
  const entries = wikis.entries(folder);
  if (typeof entries === "string") {
    throw new Fault("refused", `Cannot export to "${folder}": ${entries}`);
  }
  const marked = wikis.look(mark)?.kind === "file";
  if (entries.length > 0 && !marked) {
    throw new Fault(
      "alreadyExists",
      `Cannot export to "${folder}": it has files that no export made; name an empty folder`,
    );
  }
  const before = new TextDecoder().decode(disk.read(mark) ?? new Uint8Array())
    .split("\n").slice(1).filter((each) => each !== "").slice(0, MAX_FILES);
  disk.makeFolder(folder, 0o755);
  const root = disk.real(folder) ?? folder;
  const made = new Set<string>();
  // Written before the first file, so that an interrupted export is recognised.
  disk.write(mark, [HEAD, ...before, ""].join("\n"), { mode: 0o644 });
  const parent = (parts: readonly string[]): string => {
    const path = join(root, ...parts.slice(0, -1));
    disk.makeFolder(path, 0o755);
    if (disk.real(path) !== path) {
      throw new Fault("refused", `Cannot export to "${folder}": a link lies in it`);
    }
    return path;
  };
  return Object.freeze({
    write(path: string, text: string): void {
      const parts = exportPath(path);
      if (made.size >= MAX_FILES) {
        throw new Fault("tooLarge", `Cannot export: more than ${MAX_FILES} files`);
      }
      const file = join(parent(parts), parts.at(-1) ?? "");
      if (wikis.look(file)?.kind === "folder") {
        throw new Fault("refused", `Cannot export "${path}": there is a folder of that name`);
      }
      if (!made.has(path) && !before.includes(path)) disk.append(mark, `${path}\n`);
      disk.write(file, text, { mode: 0o644 });
      made.add(path);
    },
    finish(): number {
      for (const path of before) {
        if (made.has(path)) continue;
        const file = join(root, ...exportPath(path));
        if (disk.real(dirname(file)) === dirname(file)) disk.remove(file);
      }
      disk.write(mark, [HEAD, ...made, ""].join("\n"), { mode: 0o644 });
      return made.size;
    },
  });
}

export async function wikiExport(command: Command<Basic | "wikis">): Promise<number> {
  const { powers, parsed, places } = command;
  const to = flag(parsed, "to");
  if (to === undefined) {
    throw new Fault("invalidInput", "Cannot export: say where to with --to DIR");
  }
  const folder = absolute(powers.environment, to);
  const wiki = findWiki(command);
  return await withWiki(command, async ({ link, ask }) => {
    const target = openExport({ powers, places }, folder, [wiki.folder]);
    let wrong: unknown;
    link.onTell((op, body) => {
      if (op !== "file" || wrong !== undefined) return;
      const file = FileEvent.safeParse(body);
      try {
        if (!file.success) throw new Fault("upstream", "Cannot export: a file does not read");
        target.write(file.data.path, file.data.text);
        powers.screen.hint(`  ${file.data.path.slice(0, 80).replace(/[^ -~]/g, "·")}`);
      } catch (error) {
        wrong = error;
      }
    });
    const report = readExported(
      await ask("exportSite", { clearance: clearanceOf(command), to: folder }),
    );
    powers.screen.hint("");
    if (wrong !== undefined) throw wrong;
    const files = target.finish();
    if (command.json) printJson(command, { ...report, files, folder });
    else {
      printLines(command, [shownPath(powers.environment, join(folder, "index.html"))]);
      const marks = marksOf(command, report);
      powers.screen.say(
        `  ${counted(report.pages, "page")} and ${counted(report.sources, "source")} in ${
          counted(files, "file")
        }${marks === "" ? "" : `; together they are ${marks}`}; open it in any browser, offline`,
      );
    }
    return EXIT.success;
  });
}
