/** The command line that starts a wiki's process, and the paths that it sees. @module */
import { Fault, WASM_PAGES } from "../../../contracts/base/mod.ts";
import {
  denying,
  type WalledLine,
  walledLine,
  type WalledParts,
} from "../../../launch/program/walled_line.ts";

/** As every such line, and the paths that it sees. */
export interface WikiLine extends WalledLine {
  /** Real paths → the paths inside, where they differ. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** What a line is made of. */
export interface WikiLineParts extends WalledParts {
  readonly folder: string;
  readonly stateFolder: string;
  readonly reads: readonly string[];
}

/** An index of 10,000 pages takes a few hundred MiB of heap, the database of 500,000 passages has some GiB. */
const MAX = {
  ...{ files: 1_024, heap: 2_048, pages: WASM_PAGES.wiki },
  ...{ data: 6_144, file: 64 * 1_024 },
} as const;
/** Deno splits lists of paths here, and knows no escape. */
const COMMA = ",";

/** Makes it. Throws `refused` for a path with a comma where no namespace can give it another name. */
export function wikiLine(parts: WikiLineParts): WikiLine {
  const { folder, stateFolder } = parts;
  const walled = parts.programs.bwrap !== undefined;
  const aliases = new Map<string, string>();
  const name = (path: string, alias: string): string => {
    if (!path.includes(COMMA)) return path;
    if (!walled) {
      throw new Fault(
        "refused",
        `Cannot grant "${path}": it has a comma in it, and this machine has no bubblewrap to give it another name`,
      );
    }
    aliases.set(path, alias);
    return alias;
  };
  const own = [name(folder, "/wiki/folder"), name(stateFolder, "/wiki/state")];
  const reads = parts.reads.map((path, n) => name(path, `/wiki/read/${n}`));
  const line = walledLine(parts, {
    flags: [
      `--allow-read=${[...own, ...reads].join(COMMA)}`,
      `--allow-write=${own.join(COMMA)}`,
      ...denying("net", "run", "sys", "ffi", "import"),
    ],
    max: MAX,
    // What may be read first, so that what may be written and what runs lies over it.
    under: parts.reads.flatMap((path, n) => ["--ro-bind", path, reads[n] ?? path]),
    over: [
      ...[folder, stateFolder].flatMap((path, n) => ["--bind", path, own[n] ?? path]),
      // Node's layer, which SQLite comes with, looks where its own executable is, and ends if it cannot.
      ...["--symlink", parts.inside.deno, "/proc/self/exe"],
    ],
  });
  return { ...line, aliases };
}

/** The path by which the process knows a real path: through the longest alias that holds it. */
export function insidePath(aliases: WikiLine["aliases"], path: string): string {
  const holding = [...aliases.keys()].filter((each) => path === each || path.startsWith(`${each}/`))
    .sort((a, b) => b.length - a.length)[0];
  return holding === undefined
    ? path
    : `${aliases.get(holding) ?? holding}${path.slice(holding.length)}`;
}
