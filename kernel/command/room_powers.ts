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

/**
 * Removes the folders of runs that a kernel left when it was killed: `WORK/TASK/run-…`. To be called
 * before anything runs.
 */
export async function clearRooms(work: string): Promise<void> {
  for (const task of namesIn(work)) {
    for (const name of namesIn(`${work}/${task}`)) {
      if (name.startsWith("run-")) await removeRoom(`${work}/${task}/${name}`);
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
      isDirectory ? [name] : []
    );
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
