/** The machine, as far as the wiki's store touches it. @module */
import { randomBytes } from "node:crypto";
import { realWikiFiles } from "./files/wiki_files_powers.ts";
import type { StorePowers } from "./inside.ts";
import { makeDatabase } from "./sqlite/database.ts";
import { hasDatabase, openEngine } from "./sqlite/engine_powers.ts";

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

function newId(prefix: string): string {
  let id = prefix;
  while (id.length < prefix.length + 12) {
    // 252 is the greatest multiple of 36 that a byte holds: every digit is as likely.
    for (const byte of randomBytes(16)) {
      if (byte < 252 && id.length < prefix.length + 12) id += DIGITS[byte % 36];
    }
  }
  return id;
}

/** The real powers of this process. */
export function wikiStorePowers(): StorePowers {
  return Object.freeze<StorePowers>({
    now: () => Date.now(),
    id: newId,
    files: realWikiFiles(),
    openDatabase: (options) => makeDatabase(openEngine(options)),
    hasDatabase,
  });
}
