/** Paths in the words that a server is started with: made real, so that they mean the same inside its walls. @module */
import type { McpLaunch } from "../../../contracts/mod.ts";
import { Fault } from "../../../contracts/mod.ts";
import type { Command } from "../../command.ts";
import { resolveGrant } from "../grant/choice.ts";
import { covered, pathsIn } from "../review/propose.ts";
import { absolute } from "../../disk/places.ts";

/** Words with relative paths, links and `~` made real where there is something. The program's own name stays. */
export function placeWords(command: Command, words: readonly string[]): readonly string[] {
  const { disk, around } = command.hands;
  return words.map((word, n) => {
    const [path] = pathsIn([word]);
    if (n === 0 || path === undefined) return word;
    const real = disk.real(absolute(around, path));
    return real === undefined ? word : word.slice(0, word.length - path.length) + real;
  });
}

/** The real paths that a server is told of, in arguments and variables, without its own code and what none is granted. */
export function namedPaths(
  command: Command,
  { launch, env }: {
    readonly launch: Exclude<McpLaunch, { readonly kind: "http" }>;
    readonly env: Readonly<Record<string, string>>;
  },
): readonly string[] {
  const { disk } = command.hands;
  const own = launch.kind === "program" ? [launch.program, ...launch.folders] : [];
  return pathsIn([...launch.args, ...Object.values(env)]).flatMap((path) => {
    const real = disk.real(path);
    if (real === undefined || covered(real, own)) return [];
    try {
      return [resolveGrant(command, real)];
    } catch (error) {
      // What no server may be granted is not proposed; a flag that names it says why.
      if (error instanceof Fault) return [];
      throw error;
    }
  });
}
