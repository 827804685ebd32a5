/**
 * `deno task build`: bundles the child programs ahead of the first run. The command does the same at its first run.
 *
 * @module
 */
import { cachePackages, print, ROOT } from "./process.ts";

/** Where the command keeps the code that bundles the children. */
const BUNDLES_DOOR = `${ROOT}/cli/bundles/mod.ts`;

if (import.meta.main) {
  const fetched = await cachePackages();
  if (fetched.code !== 0) {
    print(`${fetched.output}\n`);
    Deno.exit(1);
  }
  print(`${BUNDLES_DOOR}\n`);
}
