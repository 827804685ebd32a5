/**
 * init: `remit --version` alone, started by bin/remit in place of the command line: one file to load, and no configuration
 * to read. It prints what the command line prints.
 * (test: bob calls bin/remit through two symlinks from another folder, and his paths are his).
 * @module
 */
import { VERSION } from "../launch/kernel/version.ts";

Deno.stdout.writeSync(new TextEncoder().encode(`remit ${VERSION}\n`));
