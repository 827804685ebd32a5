/** Reads sources, runs compilers, and joins their outputs into the engine. @module */
import { fileURLToPath } from "node:url";
import * as asc from "assemblyscript/asc";
import { MAX_STACK_SIZE } from "quickjs-wasi";
import { Fault } from "../../contracts/base/fault.ts";
import { beginEngine } from "./wasm/begin.ts";
import { changesTable } from "./wasm/instructions.ts";
import { joinModules } from "./wasm/join.ts";
import { parseModule } from "./wasm/module.ts";
import { buildEnv } from "../../port/build_env.ts";

/** Bytes of QuickJS' heap. The rest of the module's memory holds texts on their way in and out. */
const HEAP_BYTES = 64 * 1024 * 1024;
/** Maximum pages of 64 KiB of the module's memory. tool.yaml has the same number. */
export const MEMORY_PAGES = 2_048;

/** The glue's sources. The compiler also asks for names that do not exist. */
const FILES: ReadonlySet<string> = new Set(["glue.ts", "imports.ts", "wasi.ts", "transfer.ts"]);

const HOME = new URL("../../", import.meta.url);

/**
 * Builds the engine as an Extism module with the exports `run` and `memory`. Equal sources give
 * equal bytes. Takes about one second.
 *
 * @throws Fault `invalidInput` where the glue or the prelude does not compile, or the joined module
 * cannot be rewound
 */
export async function buildEngine(): Promise<Uint8Array> {
  const [prelude, stripper, glue, quickjs] = await Promise.all([
    bundle("prelude/main.ts"),
    bundle("strip/main.ts"),
    compileGlue(),
    Deno.readFile(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm"))),
  ]);
  const joined = joinModules({ main: parseModule(quickjs), glue: parseModule(glue), name: "qjs" });
  // Rewinding an instance restores only its memory and globals.
  if (joined.code.some(changesTable)) {
    throw new Fault("invalidInput", "Cannot build the engine: a function of it changes a table");
  }
  return beginEngine(joined, {
    prelude,
    stripper,
    heapBytes: HEAP_BYTES,
    stackBytes: MAX_STACK_SIZE / 2,
    pages: MEMORY_PAGES,
  });
}

/** Bundles `entry` into a classic script whose value is what it set as `globalThis.__made`. */
async function bundle(entry: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...[
        "bundle",
        "--quiet",
        "--no-check",
        "--platform",
        "browser",
        "--format",
        "iife",
        "--minify",
      ],
      ...["--config", fileURLToPath(new URL("deno.json", HOME))],
      fileURLToPath(new URL(entry, import.meta.url)),
    ],
    clearEnv: true,
    env: buildEnv(Deno.env.toObject()),
    stdin: "null",
  }).output();
  if (!success) {
    throw new Fault("invalidInput", `Cannot bundle ${entry}: ${new TextDecoder().decode(stderr)}`);
  }
  const take = "(()=>{const m=globalThis.__made;delete globalThis.__made;return m})()";
  return `"use strict";${new TextDecoder().decode(stdout)};${take}`;
}

async function compileGlue(): Promise<Uint8Array> {
  const folder = new URL("assembly/", import.meta.url);
  let module: Uint8Array | undefined;
  const stderr = asc.createMemoryStream();
  const { error } = await asc.main([
    ...["glue.ts", "--outFile", "glue.wasm", "-O2", "--runtime", "stub"],
    ...["--importMemory", "--noExportMemory", "--use", "abort="],
  ], {
    readFile: (name) => FILES.has(name) ? Deno.readTextFileSync(new URL(name, folder)) : null,
    writeFile: (_name, contents) => {
      if (typeof contents !== "string") module = contents;
    },
    listFiles: () => [],
    stdout: asc.createMemoryStream(),
    stderr,
  });
  if (error !== null || module === undefined) {
    throw new Fault("invalidInput", `Cannot compile the glue: ${stderr.toString().trim()}`);
  }
  return module;
}
