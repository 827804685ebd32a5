/** The three ways in which a program ends early. @module */

/** Invalid arguments: exit code 2 and the usage. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** An error about one file: reported on stderr, and the program continues with the next file. */
export class FileError extends Error {
  override readonly name = "FileError";
}

/** The output is full, as when the reader of a pipe has gone. */
export class OutputFull extends Error {
  override readonly name = "OutputFull";
}

/** A host function's refusal in a program's words; rethrows any other error. */
export function fileError(path: string, error: unknown): FileError {
  if (error instanceof FileError) return error;
  if (!(error instanceof Error) || !("code" in error)) throw error;
  const known: Readonly<Record<string, string>> = {
    notFound: "No such file or directory",
    refused: "Permission denied",
    denied: "Permission denied",
  };
  const code = String(error.code);
  // A cancelled or overdue call is not an error of one file.
  if (code === "cancelled" || code === "timedOut" || code === "gone") throw error;
  return new FileError(`${path}: ${known[code] ?? error.message}`);
}
