/** Is it the program that was decided on? Only a private copy of those very bytes is run. @module */
import type { PinBody } from "../../contracts/command.ts";
import { Fault } from "../../contracts/fault.ts";
import type { Sha256 } from "../host/content.ts";
import type { CopyFiles } from "./copy_files.ts";

/** The copy can be run and read, and written by nobody. */
const MODE = 0o555;

/**
 * Checks the program against its digest and pins its bytes.
 *
 * @throws Fault `refused` when it is another program, `notFound` when it is gone
 */
export async function pinProgram(
  { files, sha256 }: { readonly files: CopyFiles; readonly sha256: Sha256 },
  { file, sha256: decided, pin, draft: name }: PinBody,
): Promise<void> {
  const before = files.stat(file);
  if (before?.kind !== "file") {
    throw new Fault("notFound", "Cannot run the program: its file is gone");
  }
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
    const draft = `${pin}.${name}`;
    files.write(draft, [bytes], { mode: MODE });
    files.rename(draft, pin);
  }
}
