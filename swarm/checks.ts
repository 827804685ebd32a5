/** The checks of a swarm: taken from the base commit and run within walls over a changed tree. @module */
import type { SwarmPlan } from "./plan.ts";
import type { Mirror } from "./mirror.ts";
import type { SwarmPowers } from "./swarm_powers.ts";
import { isAmong, type TreeFile } from "./tree_files.ts";

/** Result of the checks. */
export interface Checked {
  readonly ok: boolean;
  /** The failed check and the end of its output. Untrusted. */
  readonly said: string;
}

/** Checks one tree. `changed`: the paths of the change itself. */
export type Check = (tree: string, changed: readonly string[]) => Promise<Checked>;

const MAX_SAID = 6_000;

/**
 * Makes the check. The files of the checks themselves always come from `base`: those in the plan's
 * `keep`, and every word of a command that names a file of the base. Words that name folders
 * (`src/`) are not kept: they say what to check, and keeping them would hide every change there.
 */
export function makeCheck(parts: {
  readonly powers: Pick<SwarmPowers, "check" | "plant" | "clear">;
  readonly mirror: Pick<Mirror, "tree" | "planted">;
  readonly plan: Pick<SwarmPlan, "checks" | "keep">;
  readonly base: string;
  readonly mount: string;
  /** A private folder of the swarm. */
  readonly rooms: string;
}): Check {
  const { powers, mirror, plan, mount } = parts;
  let runs = 0;
  let kept: Promise<{
    readonly names: readonly string[];
    readonly files: readonly TreeFile[];
  }>;
  const keep = (): typeof kept =>
    kept ??= (async () => {
      const { files } = await mirror.tree(parts.base);
      const words = plan.checks.flatMap(({ command }) => command);
      const all = new Set(files.map(({ path }) => path));
      const named = words.map((word) => word.replace(/^(?:\.\/)+/, "")).filter((word) =>
        all.has(word)
      );
      const names = [
        ...plan.keep.filter((name) => files.some(({ path }) => isAmong(path, [name]))),
        ...named,
      ];
      return { names, files: files.filter(({ path }) => isAmong(path, names)) };
    })();
  return async (tree, changed) => {
    if (plan.checks.length === 0) return { ok: true, said: "the plan names no check" };
    const { names, files: own } = await keep();
    if (changed.length > 0 && changed.every((path) => isAmong(path, names))) {
      return {
        ok: false,
        said: `the checks do not see the change: all that it changes (${
          changed.slice(0, 10).join(", ")
        }) belongs to the checks, and is taken from the base`.slice(0, MAX_SAID),
      };
    }
    const { files: theirs } = await mirror.tree(tree);
    const files = [...theirs.filter(({ path }) => !isAmong(path, names)), ...own];
    const room = `${parts.rooms}/check-${++runs}`;
    try {
      for (const { name, command, seconds } of plan.checks) {
        // A fresh folder for each check, so that no check sees files of another.
        await powers.plant(`${room}/${mount}`, mirror.planted(files));
        const ran = await powers.check({
          folder: `${room}/${mount}`,
          name: mount,
          command,
          seconds,
        });
        const printed = `${new TextDecoder().decode(ran.stdout)}${ran.stderr}`.trim();
        if (ran.code === 0 && ran.cut === undefined) continue;
        const how = ran.cut ?? `it ended with ${ran.code}`;
        return { ok: false, said: `${name}: ${how}\n${printed.slice(-MAX_SAID)}` };
      }
      return { ok: true, said: plan.checks.map(({ name }) => `${name}: good`).join("\n") };
    } finally {
      await powers.clear(room);
    }
  };
}
