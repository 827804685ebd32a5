/** Checks that an output file is writable before a run starts. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { DiskWrite } from "./machine.ts";

const WHY: Readonly<Record<string, string>> = {
  NotFound: "there is no such folder",
  NotADirectory: "there is no such folder",
  PermissionDenied: "you may not write it",
  IsADirectory: "it is a folder",
};

/**
 * Makes sure that a file can be written; a missing one is created empty. `what` is the verb of the error, as in
 * `record to`.
 *
 * @throws Fault `invalidInput` that says why not
 */
export function checkWritable(disk: Pick<DiskWrite, "append">, path: string, what: string): void {
  try {
    disk.append(path, "");
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const why = WHY[error.name] ?? error.message.slice(0, 200);
    throw new Fault("invalidInput", `Cannot ${what} "${path}": ${why}; name another file`, {
      cause: error,
    });
  }
}
