/** Builds the command line of a wiki's process, and the paths within it. Used by wiki_process_powers.ts. @module */
import { Fault, WASM_PAGES } from "../../../contracts/base/mod.ts";
import {
  denying,
  type WalledLine,
  walledLine,
  type WalledParts,
} from "../../../launch/program/walled_line.ts";

/** A command line with the aliases of its paths. */
export interface WikiLine extends WalledLine {
  /** Real paths → paths inside, where they differ. */
  readonly aliases: ReadonlyMap<string, string>;
}

export interface WikiLineParts extends WalledParts {
  readonly folder: string;
  readonly stateFolder: string;
  readonly reads: readonly string[];
}

/** MiB. An index of 10,000 pages takes a few hundred MiB of heap, the database of 500,000 passages some GiB. */
const MAX = {
  ...{ files: 1_024, heap: 2_048, pages: WASM_PAGES.wiki },
  ...{ data: 6_144, file: 64 * 1_024 },
} as const;
/** Deno separates paths by commas and has no escape. */
const COMMA = ",";

/** Builds the line. Throws `refused` for a path with a comma on a machine without namespaces to alias it. */
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
    // Readable paths first, so that writable ones and the program are mounted over them.
    under: parts.reads.flatMap((path, n) => ["--ro-bind", path, reads[n] ?? path]),
    over: [
      ...[folder, stateFolder].flatMap((path, n) => ["--bind", path, own[n] ?? path]),
      // Node's compatibility layer, which SQLite loads, looks up its own executable and exits if it cannot.
      ...["--symlink", parts.inside.deno, "/proc/self/exe"],
    ],
  });
  return { ...line, aliases };
}

/** The path within the process of a real path, by its longest alias. */
export function insidePath(aliases: WikiLine["aliases"], path: string): string {
  const holding = [...aliases.keys()].filter((each) => path === each || path.startsWith(`${each}/`))
    .sort((a, b) => b.length - a.length)[0];
  return holding === undefined
    ? path
    : `${aliases.get(holding) ?? holding}${path.slice(holding.length)}`;
}
