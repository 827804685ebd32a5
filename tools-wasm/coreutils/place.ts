/** Resolves programs' file names to paths `MOUNT/relative`. @module */
import { FileError } from "./faults.ts";

/**
 * The workspace path of `name`, relative to the folder `cwd` (`MOUNT/…`, or empty for the top,
 * which contains the mounts). `/m/MOUNT/…` is absolute, as native programs see it. Nothing is above
 * the top.
 *
 * @throws FileError
 *
 * @example
 * ```ts
 * import { placeOf } from "./place.ts";
 * placeOf("../b.md", "desk/notes"); // "desk/b.md"
 * ```
 */
export function placeOf(name: string, cwd: string): string {
  if (name === "") throw new FileError(`"": No such file or directory`);
  if (name.includes("\0")) throw new FileError(`${JSON.stringify(name)}: a name holds no NUL`);
  let from = cwd, rest = name;
  if (name.startsWith("/")) {
    if (name !== "/m" && !name.startsWith("/m/")) {
      throw new FileError(`${name}: No such file or directory (the mounts lie in /m)`);
    }
    from = "";
    rest = name.slice(3);
  }
  const parts = from === "" ? [] : from.split("/");
  for (const part of rest.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) {
      throw new FileError(`${name}: nothing is above the mounts`);
    }
  }
  return parts.join("/");
}

/** `name` with `more` below it, in the notation of the program's arguments. */
export function below(name: string, more: string): string {
  return name === "" || name.endsWith("/") ? name + more : `${name}/${more}`;
}
