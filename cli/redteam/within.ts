/** Command lines that run in this process, over folders of their own: what a person would type, without a start for each. @module */
import type { Finished, Surroundings } from "../../redteam/mod.ts";
import type { PowerName, Powers, PowerSource, Screen } from "../powers.ts";
import type { Environment } from "../../launch/disk/machine.ts";
import { makePaint } from "../terminal/paint.ts";

/** What {@link runWithin} is handed. */
export interface WithinParts {
  readonly source: PowerSource;
  runCommandLine(argv: readonly string[], source: PowerSource): Promise<number>;
  /** Kernels as that command line finds and starts them. */
  kernels(environment: Environment, screen: Screen): Powers["kernels"];
}

/** Runs one command line with nobody at the keyboard, and gives what it printed. */
export async function runWithin(
  parts: WithinParts,
  argv: readonly string[],
  { cwd, env }: Surroundings,
): Promise<Finished> {
  const outside = await parts.source("environment");
  const environment: Environment = {
    ...outside,
    ...(cwd === undefined ? {} : { cwd }),
    env: (name) => Object.hasOwn(env, name) ? env[name] : outside.env(name),
  };
  let stdout = "", stderr = "";
  const screen: Screen = {
    out: (text) => void (stdout += text),
    say: (line) => void (stderr += `${line}\n`),
    hint: () => undefined,
    paint: makePaint(false),
    width: 80,
  };
  const own: Partial<Powers> = {
    ...{ screen, environment, keyboard: undefined, readInput: () => Promise.resolve("") },
    kernels: parts.kernels(environment, screen),
  };
  const source = async <K extends PowerName>(name: K): Promise<Powers[K]> =>
    // `name in own`, so what it holds is of that name's type.
    name in own ? own[name] as Powers[K] : await parts.source(name);
  const code = await parts.runCommandLine(argv, source);
  return { code, stdout, stderr };
}
