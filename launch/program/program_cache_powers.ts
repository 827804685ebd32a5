/** Programs beside the kernel's own: each built when it is first needed, and kept by the digest of its sources. @module */
import { dirname, join } from "node:path";
import { cacheBeside, WASM_PAGES } from "../../contracts/base/mod.ts";
import { buildProgram } from "./bundles_powers.ts";
import { digestSources, type SourceDigests } from "./source_digest_powers.ts";
import { settleCaches, warm, type Warming } from "./warm_powers.ts";

/** What programs are built with. */
export interface ProgramBuild {
  /** Of Remit's own sources. */
  readonly home: string;
  readonly cache: string;
  /** Said before a build, which takes seconds. */
  readonly onBuild: () => void;
  readonly known?: SourceDigests;
}

/** What a program is made of. */
export interface ProgramSource {
  readonly entry: string;
  /** `browser`: packages take their browsers' forms, for a process without a Node.js layer. */
  readonly platform: "deno" | "browser";
  /** What its bundle is made of: a change elsewhere builds nothing anew. */
  readonly folders: readonly string[];
  /** Of the folder in the cache, before its digest, and of the file in it. */
  readonly folder: string;
  readonly name: string;
  /** WASM pages of its start line, if it names them. */
  readonly pages?: number;
}

/** Where a program lies once it is built. */
export interface BuiltProgram {
  readonly bundle: string;
  /** Its warmed code cache, to be its DENO_DIR. */
  readonly denoDir: string;
}

/** Where the program of these sources lies once it is built. */
export function programFile(
  { folders, folder, name }: ProgramSource,
  { home, cache, known }: Pick<ProgramBuild, "home" | "cache" | "known">,
): string {
  const digest = digestSources(home, folders, known);
  return join(cache, `${folder}-${digest.slice(0, 32)}`, `${name}.js`);
}

/**
 * Finds the program of these sources, or builds it: whole or not at all, also when two build at once.
 * Returns its absolute path.
 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function provideProgram(source: ProgramSource, parts: ProgramBuild): Promise<string> {
  const file = programFile(source, parts);
  await buildProgram({ ...parts, file, entry: source.entry, platform: source.platform });
  return file;
}

/** As {@link provideProgram}, with a warmed code cache beside it. */
export async function provideWarmProgram(
  source: ProgramSource,
  parts: ProgramBuild,
): Promise<BuiltProgram> {
  const bundle = await provideProgram(source, parts);
  return Object.freeze({ bundle, denoDir: await provideCache({ ...source, bundle }) });
}

/** Finds or makes the warmed code cache beside a program that is built: where its start line looks for it. */
export async function provideCache(program: Warming): Promise<string> {
  const denoDir = cacheBeside(program.bundle);
  if (!isMade(denoDir)) await makeCache(denoDir, program);
  return denoDir;
}

function isMade(denoDir: string): boolean {
  try {
    return Deno.statSync(denoDir).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Whole or not at all: what it holds keeps processes from storing anything. */
async function makeCache(denoDir: string, program: Warming): Promise<void> {
  const draft = Deno.makeTempDirSync({ dir: dirname(denoDir), prefix: ".warming-" });
  try {
    // A file where Deno would keep what a process stores: localStorage and caches then fail in each.
    Deno.writeTextFileSync(
      join(draft, "location_data"),
      "Remit: no process keeps anything here.\n",
    );
    await warm(program, draft);
    settleCaches(draft);
    Deno.renameSync(draft, denoDir);
  } catch (error) {
    Deno.removeSync(draft, { recursive: true });
    // Somebody else was faster.
    if (!isMade(denoDir)) throw error;
  }
}

/** What drives Chromium: apart, because few ask for it and it brings a package of its own. */
const BROWSER: ProgramSource = {
  ...{ entry: "browser/main.ts", platform: "deno", folder: "browser", name: "browser" },
  folders: ["browser", "contracts", "port", "text"],
};

/** What speaks to a database: apart, because few have one and it brings packages of its own. */
const STORE: ProgramSource = {
  ...{ entry: "store/postgres/main.ts", platform: "deno", folder: "store", name: "store" },
  folders: ["contracts", "port", "store"],
  pages: WASM_PAGES.store,
};

/**
 * Finds the program that speaks to a database, or builds it. Returns its absolute path.
 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function provideStore(parts: ProgramBuild): Promise<string> {
  return (await provideWarmProgram(STORE, parts)).bundle;
}

/**
 * Finds the program that drives Chromium, or builds it. Returns its absolute path.
 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function provideBrowser(parts: ProgramBuild): Promise<string> {
  return (await provideWarmProgram(BROWSER, parts)).bundle;
}
