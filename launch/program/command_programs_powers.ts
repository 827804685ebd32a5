/**
 * Finds the programs that remit.yaml grants, with real path and digest. Used by
 * launch/kernel/config_powers.ts and agent_programs_powers.ts.
 * @module
 */
import { Digest } from "../../contracts/authority/mod.ts";
import {
  COMMAND_MS,
  type CommandClass,
  type GrantedCommand,
  SESSION_MS,
} from "../../contracts/tool/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { findProgram, unlessMissing } from "./programs_powers.ts";

/** Resolves classes of remit.yaml. `path`: the operator's PATH, searched after the system's folders. */
export function findCommands(
  classes: Readonly<Record<string, CommandClass>>,
  path: string,
): {
  readonly commands: readonly GrantedCommand[];
  /** `NAME: why`, for the person. */
  readonly missing: readonly string[];
} {
  const commands: GrantedCommand[] = [];
  const missing: string[] = [];
  for (const [name, given] of Object.entries(classes)) {
    const program = findProgram(given.program, path);
    const found = program === undefined ? undefined : digestOf(program);
    if (program === undefined || found === undefined) {
      missing.push(`${name}: no program ${given.program} that can be read`);
      continue;
    }
    commands.push({
      ...{ name, program, sha256: found, env: given.env ?? [], mounts: given.mounts ?? "cwd" },
      timeoutMs: given.timeoutMs ?? COMMAND_MS,
      ...(given.args === undefined ? {} : { args: given.args }),
      ...sessionOf(given),
    });
  }
  return { commands, missing };
}

function sessionOf(given: CommandClass): Pick<GrantedCommand, "session"> {
  const { session = false, pty = false, sessionMs, timeoutMs } = given;
  if (!session && !pty) return {};
  return { session: { ms: sessionMs ?? timeoutMs ?? SESSION_MS, pty } };
}

function digestOf(path: string): Digest | undefined {
  return unlessMissing(() => Digest.parse(sha256Hex(Deno.readFileSync(path))));
}
