/** Folders of runs: a program may have closed some of its own, which must not keep them. @module */

/**
 * Removes a folder with all that is in it; absent is fine. The programs that used it have ended.
 * Rejects only where even its owner cannot.
 */
export async function removeRoom(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    reopen(path);
    await Deno.remove(path, { recursive: true });
  }
}

/** Gives its owner every right to every folder; links are met, not followed. */
function reopen(path: string): void {
  const todo = [path];
  for (let folder = todo.pop(); folder !== undefined; folder = todo.pop()) {
    Deno.chmodSync(folder, 0o700);
    for (const { name, isDirectory } of Deno.readDirSync(folder)) {
      if (isDirectory) todo.push(`${folder}/${name}`);
    }
  }
}
