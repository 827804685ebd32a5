/** Finds the programs that remit.yaml grants, with real path and digest. @module */
import { delimiter, isAbsolute, join } from "node:path";
import { Digest } from "../../contracts/authority/mod.ts";
import {
  COMMAND_MS,
  type CommandClass,
  type GrantedCommand,
  SESSION_MS,
} from "../../contracts/tool/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

const TRUSTED_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"];
/** Largest program, bytes: each start of a kernel computes its digest. */
const MAX_PROGRAM = 512 * 1024 * 1024;

/** The programs found, and the reasons for those that were not. */
export interface FoundCommands {
  readonly commands: readonly GrantedCommand[];
  /** `NAME: why`, for the person. */
  readonly missing: readonly string[];
}

/** Resolves classes of remit.yaml. `path`: the operator's PATH, searched after the system's folders. */
export function findCommands(
  classes: Readonly<Record<string, CommandClass>>,
  path: string,
): FoundCommands {
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

function findProgram(program: string, path: string): string | undefined {
  if (isAbsolute(program)) return realFile(program);
  for (const folder of [...TRUSTED_FOLDERS, ...path.split(delimiter).filter(isAbsolute)]) {
    const found = realFile(join(folder, program));
    if (found !== undefined) return found;
  }
  return undefined;
}

function realFile(path: string): string | undefined {
  return unlessMissing(() => {
    const real = Deno.realPathSync(path);
    const { isFile, size, mode } = Deno.statSync(real);
    return isFile && size <= MAX_PROGRAM && ((mode ?? 0) & 0o111) !== 0 ? real : undefined;
  });
}

function digestOf(path: string): Digest | undefined {
  return unlessMissing(() => Digest.parse(sha256Hex(Deno.readFileSync(path))));
}

function unlessMissing<T>(look: () => T | undefined): T | undefined {
  try {
    return look();
  } catch (error) {
    const expected = error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotADirectory || error instanceof Deno.errors.PermissionDenied;
    if (!expected) throw error;
    return undefined;
  }
}
