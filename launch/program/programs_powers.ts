/** Finds the system programs that build walls, by absolute path. @module */
import { delimiter, isAbsolute, join } from "node:path";
import type { KernelConfig } from "../../contracts/wire/mod.ts";

const TRUSTED_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"];
/** Largest program, bytes: of a granted one, each start of a kernel computes the digest. */
const MAX_PROGRAM = 512 * 1024 * 1024;

/**
 * The real path of an executable file; undefined when there is none. A name is searched in the system's folders, then
 * in those of `path`, a PATH.
 */
export function findProgram(program: string, path: string): string | undefined {
  const folders = [...TRUSTED_FOLDERS, ...path.split(delimiter).filter(isAbsolute)];
  const candidates = isAbsolute(program) ? [program] : folders.map((each) => join(each, program));
  for (const each of candidates) {
    const found = unlessMissing(() => {
      const real = Deno.realPathSync(each);
      const { isFile, size, mode } = Deno.statSync(real);
      return isFile && size <= MAX_PROGRAM && ((mode ?? 0) & 0o111) !== 0 ? real : undefined;
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The result of `look`; undefined for a file that is missing or may not be read. */
export function unlessMissing<T>(look: () => T | undefined): T | undefined {
  try {
    return look();
  } catch (error) {
    const expected = error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotADirectory || error instanceof Deno.errors.PermissionDenied;
    if (!expected) throw error;
    return undefined;
  }
}

async function works(program: string, args: readonly string[]): Promise<boolean> {
  const { success } = await new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  return success;
}

/** Finds the programs that work on this machine. bubblewrap must not only exist, but run. */
export async function findPrograms(): Promise<KernelConfig["programs"]> {
  const path = Deno.env.get("PATH") ?? "";
  const linux = Deno.build.os === "linux";
  const optional = (name: string): string | undefined =>
    linux ? findProgram(name, path) : undefined;
  const [bwrap, setpriv, prlimit, nice] = ["bwrap", "setpriv", "prlimit", "nice"].map(optional);
  const walled = bwrap !== undefined &&
    await works(bwrap, [
      "--unshare-all",
      "--die-with-parent",
      "--ro-bind",
      "/",
      "/",
      "true",
    ]);
  return {
    deno: Deno.realPathSync(Deno.execPath()),
    ...(walled ? { bwrap } : {}),
    ...(setpriv === undefined ? {} : { setpriv }),
    ...(prlimit === undefined ? {} : { prlimit }),
    ...(nice === undefined ? {} : { nice }),
  };
}
