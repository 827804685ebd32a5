/** Finds the system programs that build walls, by absolute path. @module */
import { delimiter, isAbsolute, join } from "node:path";
import type { KernelConfig } from "../../contracts/wire/mod.ts";

const TRUSTED_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"];

function findProgram(name: string, path: string): string | undefined {
  const folders = [...TRUSTED_FOLDERS, ...path.split(delimiter).filter(isAbsolute)];
  for (const folder of folders) {
    try {
      const found = Deno.realPathSync(join(folder, name));
      if (Deno.statSync(found).isFile) return found;
    } catch (error) {
      const expected = error instanceof Deno.errors.NotFound ||
        error instanceof Deno.errors.NotADirectory ||
        error instanceof Deno.errors.PermissionDenied;
      if (!expected) throw error;
    }
  }
  return undefined;
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
