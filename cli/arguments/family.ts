/** A family of commands: their syntax, the powers that they receive, and their work, loaded on demand. @module */
import type { Command, LazyCommand } from "../command.ts";
import type { PowerName, Powers, PowerSource } from "../powers.ts";
import type { CommandSpec } from "./command_spec.ts";

/** Commands with the same powers. Parsing, help and completion read `spec`. */
export interface Family {
  readonly spec: readonly CommandSpec[];
  /** The powers that its commands may reach. */
  readonly needs: readonly PowerName[];
  /** Names of the commands with work. */
  readonly works: readonly string[];
  /** Runs the command of this name with the powers in `needs`, and no others; returns the exit code. */
  run(
    name: string,
    source: PowerSource,
    rest: Omit<Command, "powers">,
  ): Promise<number>;
}

/** A record of exactly the powers of these names. */
export async function handed<K extends PowerName>(
  source: PowerSource,
  needs: readonly K[],
): Promise<Pick<Powers, K>> {
  const entries = await Promise.all(needs.map(async (name) => [name, await source(name)] as const));
  return Object.freeze(Object.fromEntries(entries)) as Pick<Powers, K>;
}

/**
 * Makes a family. `work` has a loader for each command of `spec`, by name. A command gets the powers of `later` on request.
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
      // Loaded before the powers, which may hold resources.
      const run = await load();
      return await run({
        ...rest,
        powers: await handed(source, needs),
        more: async () => ({ ...rest, powers: await handed(source, all) }),
      });
    },
  });
}
