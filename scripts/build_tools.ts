/**
 * `deno task build:tools`: builds the tool plugins where the commands look for them, or reports
 * that they exist. The commands would build them at the first run; this task is for machines that
 * will be offline then.
 * @module
 */
import { placesOf } from "../launch/disk/places.ts";
import { provideTools } from "../tools-wasm/build/mod.ts";
import { print, ROOT } from "./process.ts";

if (import.meta.main) {
  const started = performance.now();
  const places = placesOf({ cwd: ROOT, env: (name) => Deno.env.get(name), uid: 0 }, undefined);
  const tools = await provideTools({
    home: ROOT,
    cache: `${places.cache}/tools`,
    onBuild: (text) => print(`${text}\n`),
  });
  for (const { manifest } of tools.plugins) {
    print(`${manifest.name} ${manifest.version} ${manifest.sha256.slice(0, 16)}\n`);
  }
  print(`${tools.folder} ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}
