/** The gateway's program, built when it is first needed. Issue 6; docs/decision/0016. @module */
import { dirname, join } from "node:path";
import { buildProgram, digestSources, warm } from "./bundles_powers.ts";
import type { BuiltProgram, WikiProgramBuild } from "./wiki_programs_powers.ts";

/** What its bundle is made of: a change elsewhere builds nothing anew. */
const FOLDERS = ["bridges/mcp/serve", "contracts", "ingress", "port", "text"];

/** Where the gateway of these sources lies once it is built. */
export function serveProgramFile(
  { home, cache }: Pick<WikiProgramBuild, "home" | "cache">,
): string {
  return join(cache, `gateway-${digestSources(home, FOLDERS).slice(0, 32)}`, "gateway.js");
}

/**
 * Finds the program of these sources, or builds it: whole or not at all, also when two build at once.
 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function provideServeProgram(parts: WikiProgramBuild): Promise<BuiltProgram> {
  const bundle = serveProgramFile(parts);
  await buildProgram({ ...parts, file: bundle, entry: "ingress/main.ts", platform: "browser" });
  const denoDir = join(dirname(bundle), "deno");
  if (!isMade(denoDir)) {
    Deno.mkdirSync(denoDir, { recursive: true, mode: 0o700 });
    // A file where Deno would keep what a process stores: localStorage and caches then fail in it.
    Deno.writeTextFileSync(
      join(denoDir, "location_data"),
      "Remit: no process keeps anything here.\n",
    );
    // Twice: Deno writes the code cache at the second start.
    for (let i = 0; i < 2; i++) await warm(bundle, denoDir);
  }
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
