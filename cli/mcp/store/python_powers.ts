/** Asks a Python of this machine what it is made of. @module */
import * as z from "zod";
import { findProgram, missing } from "./find_powers.ts";
import type { FoundPython } from "./hands.ts";

/** Said by a Python of itself: where it lies, what it is made of. */
const ABOUT = `import sys, sysconfig, json, importlib.util
real = sysconfig.get_paths()
print(json.dumps({
  "executable": sys.executable, "version": "%d.%d" % sys.version_info[:2],
  "folders": sorted({sys.prefix, sys.base_prefix}),
  "packages": sorted({real["purelib"], real["platlib"]}) if sys.prefix != sys.base_prefix else [],
  "pip": importlib.util.find_spec("pip") is not None,
}))`;
const About = z.object({
  executable: z.string().max(4_096),
  version: z.string().max(16),
  folders: z.array(z.string().max(4_096)).max(4),
  packages: z.array(z.string().max(4_096)).max(4),
  pip: z.boolean(),
});
const PYTHON_MS = 10_000;

/** See `McpStoreHands.python`. */
export async function findPython(program: string): Promise<FoundPython | undefined> {
  const asked = program.includes("/") ? program : findProgram(program)?.path;
  if (asked === undefined) return undefined;
  try {
    // Isolated: neither the folder that it is started in nor the environment adds code to it.
    const { success, stdout } = await new Deno.Command(asked, {
      args: ["-I", "-c", ABOUT],
      clearEnv: true,
      env: { PATH: Deno.env.get("PATH") ?? "", HOME: Deno.env.get("HOME") ?? "/" },
      cwd: "/",
      stdin: "null",
      stdout: "piped",
      stderr: "null",
      signal: AbortSignal.timeout(PYTHON_MS),
    }).output();
    if (!success) return undefined;
    const { executable, ...about } = About.parse(JSON.parse(new TextDecoder().decode(stdout)));
    const found = findProgram(executable);
    return found === undefined ? undefined : { ...about, ...found };
  } catch (error) {
    const isNone = missing(error) || error instanceof SyntaxError || error instanceof z.ZodError;
    if (isNone) return undefined;
    throw error;
  }
}
