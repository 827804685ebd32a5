/** Runs command lines in this process over separate folders, as a person would type them, without starting a process for each. @module */
import type { Finished, Surroundings } from "../../redteam/mod.ts";
import type { PowerName, Powers, PowerSource, Screen } from "../powers.ts";
import type { Environment } from "../../launch/disk/machine.ts";
import { makePaint } from "../terminal/paint.ts";

/** Runs one command line without a keyboard, and returns its exit code and output. */
export async function runWithin(
  parts: {
    readonly source: PowerSource;
    runCommandLine(argv: readonly string[], source: PowerSource): Promise<number>;
    /** The kernels for this environment and screen. */
    kernels(environment: Environment, screen: Screen): Powers["kernels"];
  },
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
    // `name in own`, so the value has the type of that name.
    name in own ? own[name] as Powers[K] : await parts.source(name);
  const code = await parts.runCommandLine(argv, source);
  return { code, stdout, stderr };
}
