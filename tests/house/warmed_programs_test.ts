/** Programs that are started in a namespace find their own code compiled: nobody there can keep it. docs/decision/0028. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { provideServeProgram } from "../../cli/mcp_serve/gateway_process_powers.ts";
import { modelPrograms, provideModelProgram } from "../../launch/program/model_programs_powers.ts";
import { provideBrowser } from "../../launch/program/program_cache_powers.ts";
import { digestSources } from "../../launch/program/source_digest_powers.ts";
import { provideWikiProgram } from "../../memory-wiki/host/process/programs_powers.ts";
import { cache, testBundles } from "../fake/kernel.ts";
import { waitUntil } from "../fake/wait_until.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

function holdsCode(dir: string, bundle: string): boolean {
  try {
    using code = new DatabaseSync(join(dir, "v8_code_cache_v2"), { readOnly: true });
    const row = code.prepare("SELECT 1 FROM codecache WHERE specifier = ?");
    return row.get(pathToFileURL(bundle).href) !== undefined;
  } catch {
    // Not there yet, or being written.
    return false;
  }
}

Deno.test("each program that may only read what Deno keeps finds its own code there", async () => {
  const parts = { home: ROOT, cache: cache(), onBuild: () => undefined };
  const { children: { toolhost, net, copy }, denoDir } = await testBundles();
  await provideModelProgram("remote", parts);
  await provideModelProgram("native", parts);
  const { remote, native } = modelPrograms(cache(), digestSources(ROOT));
  const apart = [
    ...[remote, native, await provideBrowser(parts)],
    (await provideWikiProgram("wiki", parts)).bundle,
    (await provideServeProgram(parts)).bundle,
  ];
  const places = [
    ...[toolhost, net, copy].map((bundle) => ({ bundle, dir: denoDir })),
    ...apart.map((bundle) => ({ bundle, dir: join(dirname(bundle), "deno") })),
  ];
  for (const { bundle, dir } of places) {
    // Another suite may have built them a moment ago, and be warming them still.
    await waitUntil(`compiled code of ${bundle}`, () => holdsCode(dir, bundle) || undefined);
    assert.ok(Deno.statSync(join(dir, "location_data")).isFile, dir);
  }
});
