/** Checks the folders of a task before it resumes: one may be a link now. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { Mount } from "../../contracts/tool/mod.ts";
import type { DiskRead } from "./machine.ts";

/**
 * Checks that the folders of a task are still where they were.
 * @throws Fault `refused` where a link replaced one: the task would reach files that nobody granted to it
 */
export function checkSameFolders(
  disk: Pick<DiskRead, "real">,
  mounts: readonly Pick<Mount, "name" | "dir">[],
): void {
  for (const { name, dir } of mounts) {
    const real = disk.real(dir);
    if (real === undefined || real === dir) continue;
    throw new Fault(
      "refused",
      `Cannot take the task up: its mount "${name}" was "${dir}", which leads to "${real}" now; ` +
        "put the folder back, or begin a new task",
    );
  }
}
