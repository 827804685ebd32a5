/** Files of a folder that running processes may change meanwhile: a file that vanishes is left out. */
import { Buffer } from "node:buffer";

/** Path and bytes of every file beneath `folder`; links are not followed. */
export async function* filesBeneath(
  folder: string,
): AsyncGenerator<{ readonly path: string; readonly bytes: Uint8Array }> {
  for (const { name, isFile, isDirectory } of await ifThere(namesIn(folder)) ?? []) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* filesBeneath(path);
    const bytes = isFile ? await ifThere(Deno.readFile(path)) : undefined;
    if (bytes !== undefined) yield { path, bytes };
  }
}

/** Paths of the files beneath `folder` whose bytes contain `text`. */
export async function holding(folder: string, text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { path, bytes } of filesBeneath(folder)) {
    if (Buffer.from(bytes).includes(text)) found.push(path);
  }
  return found;
}

/** The entries of a folder. */
export const namesIn = (folder: string): Promise<Deno.DirEntry[]> =>
  Array.fromAsync(Deno.readDir(folder));

/** What `read` gives; undefined where the file or folder has vanished. */
export async function ifThere<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
