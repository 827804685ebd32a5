/**
 * `deno task build`: bundles the child programs ahead of the first run, where the command's own bundling can be found.
 *
 * @module
 */
import { print, ROOT } from "./process.ts";

if (import.meta.main) {
  await print(`${ROOT}\n`);
}
