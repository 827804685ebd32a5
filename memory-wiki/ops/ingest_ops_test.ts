import assert from "node:assert/strict";
import { makeFolders, openFolders, takeIn } from "../_fixture/opened_wiki.ts";

Deno.test("what lies where nobody could look stays, and what else is not there is removed", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  const { files } = folders;
  await Deno.mkdir(`${files}/shut`);
  await Deno.mkdir(`${files}/shutter`);
  await takeIn(wiki, folders, {
    "shut/a.md": "# A\n\nOne.\n",
    "shutter/b.md": "# B\n\nTwo.\n",
    "c.md": "# C\n\nThree.\n",
  });
  const { removed } = await wiki.ask("ingestGone", {
    keyPrefix: `file:${files}/`,
    present: [`file:${files}/c.md`],
    unseen: [`file:${files}/shut/`],
  });
  assert.deepEqual(removed, [`file:${files}/shutter/b.md`]);
});
