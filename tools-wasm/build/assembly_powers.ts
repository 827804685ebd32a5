/** Compiles AssemblyScript to an Extism module, inside this process. @module */
import { isAbsolute, join } from "node:path";
import * as asc from "assemblyscript/asc";
import { Fault } from "../../contracts/base/fault.ts";

/** Compiler flags besides the memory's maximum. */
const FLAGS: readonly string[] = [
  ...["--outFile", "out.wasm"],
  // V8 runs the result within 5 % of -O3's speed, and -O3 compiles half as long again.
  "-O1",
  ...["--enable", "simd"],
  ...["--runtime", "incremental"],
  ...["--use", "abort=~lib/remit/plugin/abortPlugin"],
];

function tryRead(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return null;
    }
    throw error;
  }
}

/**
 * Compiles `assembly/index.ts` (or `entry`) of `folder`, which may import its own files and the kit
 * (`remit/plugin` and others of the folder `kit`), to a module whose memory has at most
 * `memoryPages` pages of 64 KiB. Equal sources give equal bytes wherever they lie.
 *
 * @throws Fault `invalidInput` with the compiler's message
 */
export async function compileAssembly(
  { folder, kit, memoryPages, entry = "assembly/index.ts" }: {
    readonly folder: string;
    readonly kit: string;
    readonly memoryPages: number;
    readonly entry?: string;
  },
): Promise<Uint8Array> {
  let module: Uint8Array | undefined;
  const stderr = asc.createMemoryStream();
  const { error } = await asc.main([
    entry,
    ...FLAGS,
    ...["--lib", kit],
    ...["--maximumMemory", String(memoryPages)],
  ], {
    // Names are relative to one of the two folders, so that no path of this machine enters a
    // module.
    readFile: (name, base) => {
      if (isAbsolute(name) || name.startsWith("..")) return null;
      return tryRead(join(base === kit ? kit : folder, name));
    },
    writeFile: (_name, contents) => {
      if (typeof contents !== "string") module = contents;
    },
    listFiles: () => [],
    stdout: asc.createMemoryStream(),
    stderr,
  });
  if (error !== null || module === undefined) {
    const message = stderr.toString().trim() || error?.message || "no module came out";
    throw new Fault("invalidInput", `Cannot compile "${folder}": ${message}`);
  }
  return module;
}
