/** Copies and checks of databases for backup and restore. The store and the log are loaded when they are asked for. @module */
import { existsSync } from "node:fs";
import { Digest, Fault } from "../../../contracts/mod.ts";
import type { BackupHands, CheckedLog } from "./hands.ts";
import { copySqlite } from "./sqlite_copy_powers.ts";

/** The store and the log, as main.ts wires them. */
export interface LogKit {
  flaws(path: string): readonly string[];
  verify(
    path: string,
    options: { readonly keyFile: string; readonly head?: Digest },
  ): Promise<CheckedLog>;
}

/** Makes the hands; `provide` loads what main.ts wires. */
export function makeBackupHands(provide: () => Promise<LogKit>): BackupHands {
  return Object.freeze<BackupHands>({
    copy: copySqlite,
    async verify(path, { keyFile, head }): Promise<CheckedLog> {
      // Whoever looks for the key where there is none would make one.
      if (!existsSync(keyFile)) {
        throw new Fault("storeCorrupt", `Cannot check "${path}": its receipt key is gone`);
      }
      const kit = await provide();
      const found = kit.flaws(path);
      if (found.length > 0) throw new Fault("storeCorrupt", `Cannot use "${path}": ${found[0]}`);
      return await kit.verify(path, {
        keyFile,
        ...(head === undefined ? {} : { head: Digest.parse(head) }),
      });
    },
  });
}
