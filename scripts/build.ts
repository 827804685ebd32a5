/**
 * `deno task build`: builds every program and the tool plugins where the commands look for them.
 * The commands would build each at first need; this task is for machines that will be offline then,
 * and for tests that run in parallel.
 * @module
 */
import { join } from "node:path";
import { provideBundles } from "../launch/program/bundles_powers.ts";
import { provideBrowser, provideStore } from "../launch/program/program_cache_powers.ts";
import { provideMcpPrograms } from "../launch/program/mcp_programs_powers.ts";
import { provideServeProgram } from "../cli/mcp_serve/gateway_process_powers.ts";
import { type ModelProgram, provideModelProgram } from "../launch/program/model_programs_powers.ts";
import { placesOf } from "../launch/disk/places.ts";
import {
  provideWikiProgram,
  type WikiProgram,
} from "../memory-wiki/host/process/programs_powers.ts";
import { provideTools } from "../tools-wasm/build/mod.ts";
import { cachePackages, print, ROOT } from "./process.ts";

const MODELS: readonly ModelProgram[] = ["remote", "local", "native"];
const WIKI: readonly WikiProgram[] = ["wiki", "parser"];

/** Builds the less common programs, two at a time. */
async function provideFew(parts: Parameters<typeof provideServeProgram>[0]): Promise<void> {
  const queue: (() => Promise<unknown>)[] = [
    () => provideMcpPrograms(parts),
    ...MODELS.map((kind) => () => provideModelProgram(kind, parts)),
    ...WIKI.map((which) => () => provideWikiProgram(which, parts)),
    () => provideServeProgram(parts),
    () => provideBrowser(parts),
    () => provideStore(parts),
  ];
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await next();
  };
  await Promise.all([lane(), lane()]);
}

if (import.meta.main) {
  const fetched = await cachePackages();
  if (fetched.code !== 0) {
    print(`${fetched.output}\n`);
    Deno.exit(1);
  }
  const places = placesOf({ cwd: ROOT, env: (name) => Deno.env.get(name), uid: 0 }, undefined);
  const bundles = await provideBundles({
    home: ROOT,
    cache: places.cache,
    onBuild: () => print("building …\n"),
  });
  const onBuild = (text: string): void => print(`${text}\n`);
  await provideTools({ home: ROOT, cache: join(places.cache, "tools"), onBuild });
  await provideFew({ home: ROOT, cache: places.cache, onBuild: () => undefined });
  print(`${[bundles.kernel, ...Object.values(bundles.children)].join("\n")}\n`);
}
