/** The programs of the wiki memory, each built when it is first needed. docs/decision/0013 and 0014. @module */
import { dirname, join } from "node:path";
import { buildProgram, digestSources, warm } from "./bundles_powers.ts";

/** `wiki` holds one wiki, `parser` makes text of one document. */
export type WikiProgram = "wiki" | "parser";

/** Where a program lies once it is built. */
export interface BuiltProgram {
  readonly bundle: string;
  /** Its warmed code cache, to be its DENO_DIR. */
  readonly denoDir: string;
}

/** What it is built with. */
export interface WikiProgramBuild {
  /** Of Remit's own sources. */
  readonly home: string;
  readonly cache: string;
  /** Said before a build, which takes seconds. */
  readonly onBuild: () => void;
}

interface Source {
  readonly entry: string;
  readonly platform: "deno" | "browser";
  /** What its bundle is made of: a change elsewhere builds nothing anew. */
  readonly folders: readonly string[];
}

const SOURCES: Readonly<Record<WikiProgram, Source>> = {
  wiki: {
    entry: "memory-wiki/main.ts",
    platform: "deno",
    folders: ["contracts", "memory-wiki", "port", "text"],
  },
  parser: {
    entry: "memory-wiki/parse/main.ts",
    // Packages take their browsers' forms: it has no Node.js layer and no permission that one needs.
    platform: "browser",
    folders: ["contracts", "memory-wiki/parse", "port", "tools-wasm/web_read"],
  },
};

/** Where the program of these sources lies once it is built. */
export function wikiProgramFile(
  which: WikiProgram,
  { home, cache }: Pick<WikiProgramBuild, "home" | "cache">,
): string {
  const digest = digestSources(home, SOURCES[which].folders).slice(0, 32);
  return join(cache, `${which}-${digest}`, `${which}.js`);
}

/**
 * Finds the program of these sources, or builds it: whole or not at all, also when two build at once.
 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function provideWikiProgram(
  which: WikiProgram,
  parts: WikiProgramBuild,
): Promise<BuiltProgram> {
  const { entry, platform } = SOURCES[which];
  const bundle = wikiProgramFile(which, parts);
  await buildProgram({ ...parts, file: bundle, entry, platform });
  const denoDir = join(dirname(bundle), "deno");
  if (!isMade(denoDir)) await makeDenoDir(denoDir, bundle);
  return Object.freeze({ bundle, denoDir });
}

function isMade(denoDir: string): boolean {
  try {
    return Deno.statSync(denoDir).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function makeDenoDir(denoDir: string, bundle: string): Promise<void> {
  Deno.mkdirSync(denoDir, { recursive: true, mode: 0o700 });
  // A file where Deno would keep what a process stores: localStorage and caches then fail in each.
  Deno.writeTextFileSync(
    join(denoDir, "location_data"),
    "Remit: no process keeps anything here.\n",
  );
  // Twice: Deno writes the code cache at the second start.
  for (let i = 0; i < 2; i++) await warm(bundle, denoDir);
}
