/** The three ways in which a program ends early. @module */

/** Arguments that the program does not take: exit code 2 and the usage. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Something about one file: told on stderr, and the program goes on with the next. */
export class FileError extends Error {
  override readonly name = "FileError";
}

/** The output is full, as when the reader of a pipe has gone. */
export class OutputFull extends Error {
  override readonly name = "OutputFull";
}

/** A host function's refusal as words of a program; anything else is thrown on. */
export function fileError(path: string, error: unknown): FileError {
  if (error instanceof FileError) return error;
  if (!(error instanceof Error) || !("code" in error)) throw error;
  const known: Readonly<Record<string, string>> = {
    notFound: "No such file or directory",
    refused: "Permission denied",
    denied: "Permission denied",
  };
  const code = String(error.code);
  // A cancelled or overdue call is not one file's trouble.
  if (code === "cancelled" || code === "timedOut" || code === "gone") throw error;
  return new FileError(`${path}: ${known[code] ?? error.message}`);
}
