/** Optional programs: each built when first needed, and cached by the digest of its sources. @module */
import { join } from "node:path";
import { cacheBeside, WASM_PAGES } from "../../contracts/base/mod.ts";
import { buildProgram, provideFolder } from "./bundles_powers.ts";
import { digestSources, type SourceDigests } from "./source_digest_powers.ts";
import { settleCaches, warm, type Warming } from "./warm_powers.ts";

/** Parameters of a build. */
export interface ProgramBuild {
  /** Remit's own folder, with its sources. */
  readonly home: string;
  readonly cache: string;
  /** Called before a build, which takes seconds. */
  readonly onBuild: () => void;
  readonly known?: SourceDigests;
}

/** The sources of a program. */
export interface ProgramSource {
  readonly entry: string;
  /** `browser`: packages in their browser form, for a process without a Node.js layer. */
  readonly platform: "deno" | "browser";
  /** Folders of its sources: a change elsewhere does not rebuild it. */
  readonly folders: readonly string[];
  /** Name of the folder in the cache, before its digest; `name` is the file in it. */
  readonly folder: string;
  readonly name: string;
  /** WASM pages in its start line, if any. */
  readonly pages?: number;
}

/** Paths of a built program. */
export interface BuiltProgram {
  readonly bundle: string;
  /** Its warmed code cache, for DENO_DIR. */
  readonly denoDir: string;
}

/** The path of the program of these sources, built or not. */
export function programFile(
  { folders, folder, name }: ProgramSource,
  { home, cache, known }: Pick<ProgramBuild, "home" | "cache" | "known">,
): string {
  const digest = digestSources(home, folders, known);
  return join(cache, `${folder}-${digest.slice(0, 32)}`, `${name}.js`);
}

/**
 * Finds the program of these sources, or builds it: whole or not at all, also when two processes build at once.
 * Returns its absolute path.
 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function provideProgram(source: ProgramSource, parts: ProgramBuild): Promise<string> {
  const file = programFile(source, parts);
  await buildProgram({ ...parts, file, entry: source.entry, platform: source.platform });
  return file;
}

/** {@link provideProgram}, with a warmed code cache beside the program. */
export async function provideWarmProgram(
  source: ProgramSource,
  parts: ProgramBuild,
): Promise<BuiltProgram> {
  const bundle = await provideProgram(source, parts);
  return Object.freeze({ bundle, denoDir: await provideCache({ ...source, bundle }) });
}

/** Finds or makes the warmed code cache beside a built program, where its start line expects it. */
export async function provideCache(program: Warming): Promise<string> {
  const denoDir = cacheBeside(program.bundle);
  // Whole or not at all: a partial cache would let processes store data.
  await provideFolder(denoDir, async (draft) => {
    // A file in place of Deno's storage folder: localStorage and caches fail in every process.
    Deno.writeTextFileSync(
      join(draft, "location_data"),
      "Remit: no process keeps anything here.\n",
    );
    await warm(program, draft);
    settleCaches(draft);
  });
  return denoDir;
}

/** Drives Chromium; separate, because few people need it and it brings its own package. */
const BROWSER: ProgramSource = {
  ...{ entry: "browser/main.ts", platform: "deno", folder: "browser", name: "browser" },
  folders: ["browser", "contracts", "port", "text"],
};

/** Connects to a database; separate, because few people have one and it brings its own packages. */
const STORE: ProgramSource = {
  ...{ entry: "store/postgres/main.ts", platform: "deno", folder: "store", name: "store" },
  folders: ["contracts", "port", "store"],
  pages: WASM_PAGES.store,
};

/**
 * Finds or builds the program that connects to a database. Returns its absolute path.
 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function provideStore(parts: ProgramBuild): Promise<string> {
  return (await provideWarmProgram(STORE, parts)).bundle;
}

/**
 * Finds or builds the program that drives Chromium. Returns its absolute path.
 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function provideBrowser(parts: ProgramBuild): Promise<string> {
  return (await provideWarmProgram(BROWSER, parts)).bundle;
}
