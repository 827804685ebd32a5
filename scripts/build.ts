/**
 * `deno task build`: builds the child programs where the command will look for them. It does the same at its first
 * run; this is for machines that will be offline then.
 *
 * @module
 */
import { provideBundles } from "../cli/bundles_powers.ts";
import { placesOf } from "../cli/places.ts";
import { cachePackages, print, ROOT } from "./process.ts";

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
  print(`${[bundles.kernel, ...Object.values(bundles.children)].join("\n")}\n`);
}
