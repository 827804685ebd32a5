/** A family of commands: what each takes, the powers that they are handed, and their work, loaded when it is asked for. @module */
import type { Command, LazyCommand } from "../command.ts";
import type { PowerName, Powers, PowerSource } from "../powers.ts";
import type { CommandSpec } from "./command_spec.ts";

/** Commands that share their powers. Parsing, help and completion read `spec`. */
export interface Family {
  readonly spec: readonly CommandSpec[];
  /** All that its commands can reach. */
  readonly needs: readonly PowerName[];
  /** Names of the commands that have work. */
  readonly works: readonly string[];
  /** Runs the command of this name with powers of `needs`, and no others; gives the exit code. */
  run(
    name: string,
    source: PowerSource,
    rest: Omit<Command, "powers">,
  ): Promise<number>;
}

/** Gathers the powers of these names into a record that holds nothing else. */
export async function handed<K extends PowerName>(
  source: PowerSource,
  needs: readonly K[],
): Promise<Pick<Powers, K>> {
  const entries = await Promise.all(needs.map(async (name) => [name, await source(name)] as const));
  return Object.freeze(Object.fromEntries(entries)) as Pick<Powers, K>;
}

/**
 * Makes a family. `work` has a loader for each command of `spec`, by its words. Powers of `later` are loaded where a command asks for more.
 *
 * @example
 * ```ts
 * import { family } from "./family.ts";
 * const stop = family([], ["screen"], {
 *   stop: () => Promise.resolve(({ hands }) => {
 *     hands.screen.out("stopped\n"); // hands.disk is no property of it
 *     return Promise.resolve(0);
 *   }),
 * });
 * if (stop.needs.length !== 1) throw new Error();
 * ```
 */
export function family<K extends PowerName, L extends PowerName = never>(
  spec: readonly CommandSpec[],
  needs: readonly K[],
  work: Readonly<
    Record<string, () => Promise<(command: LazyCommand<NoInfer<K>, NoInfer<L>>) => Promise<number>>>
  >,
  later: readonly L[] = [],
): Family {
  const all = [...needs, ...later];
  return Object.freeze<Family>({
    spec,
    needs: all,
    works: Object.keys(work),
    async run(name, source, rest) {
      const load = Object.hasOwn(work, name) ? work[name] : undefined;
      if (load === undefined) throw new TypeError(`Cannot run "${name}": no work`);
      // Loaded first: what is asked for may be long, and powers may hold something.
      const run = await load();
      return await run({
        ...rest,
        powers: await handed(source, needs),
        more: async () => ({ ...rest, powers: await handed(source, all) }),
      });
    },
  });
}
