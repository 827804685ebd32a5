/** Is it the program that was decided on? Only a private copy of those very bytes is run. @module */
import type { PrepareBody } from "../../contracts/command.ts";
import { Fault } from "../../contracts/fault.ts";
import type { Sha256 } from "../host/content.ts";
import type { CopyFiles } from "./copy_files.ts";

/** The copy can be run and read, and written by nobody. */
const MODE = 0o555;

/**
 * Checks the program against its digest and pins its bytes. Returns its mark: while that stays the
 * same, so do the bytes, and they are not hashed again.
 *
 * @throws Fault `refused` when it is another program, `notFound` when it is gone
 */
export async function pinProgram(
  { files, sha256, draftName }: {
    readonly files: CopyFiles;
    readonly sha256: Sha256;
    /** Unique among the calls under way. */
    readonly draftName: string;
  },
  { file, sha256: decided, pin, mark }: PrepareBody["program"],
): Promise<string> {
  const before = files.stat(file);
  if (before?.kind !== "file") {
    throw new Fault("notFound", "Cannot run the program: its file is gone");
  }
  if (before.mark === mark && files.stat(pin) !== undefined) return before.mark;
  const bytes = files.read(file);
  const found = await sha256(bytes);
  if (found !== decided || files.stat(file)?.mark !== before.mark) {
    throw new Fault(
      "refused",
      "Cannot run the program: its file was replaced since it was granted (restart the kernel to " +
        "have the new one asked for)",
      { detail: { expected: decided, found } },
    );
  }
  if (files.stat(pin) === undefined) {
    // Two calls at once write the same bytes: whichever is renamed last stays.
    const draft = `${pin}.${draftName}`;
    files.write(draft, [bytes], MODE);
    files.rename(draft, pin);
  }
  return before.mark;
}
