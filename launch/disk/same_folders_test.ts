import assert from "node:assert/strict";
import { MountName } from "../../contracts/authority/mod.ts";
import { checkSameFolders } from "./same_folders.ts";

Deno.test("a folder that became a link would be handed to a task that was given another one", async () => {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-same-" }));
  try {
    for (const name of ["desk", "keys"]) await Deno.mkdir(`${dir}/${name}`);
    const disk = {
      real(path: string): string | undefined {
        try {
          return Deno.realPathSync(path);
        } catch {
          return undefined;
        }
      },
    };
    const mounts = [{ name: MountName.parse("desk"), dir: `${dir}/desk` }];
    checkSameFolders(disk, mounts);
    await Deno.rename(`${dir}/desk`, `${dir}/old`);
    // What is gone is told by whoever needs it.
    checkSameFolders(disk, mounts);
    await Deno.symlink(`${dir}/keys`, `${dir}/desk`);
    assert.throws(() => checkSameFolders(disk, mounts), /leads to ".*\/keys" now/);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
