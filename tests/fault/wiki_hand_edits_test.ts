/**
 * alice edits pages in her editor while patches are applied to them. A patch over what she saved meanwhile would take her
 * words away without a trace.
 */
import assert from "node:assert/strict";
import { makeFolders } from "../../memory-wiki/_fixture/opened_wiki.ts";
import { openProcess, type WikiProcess } from "../../memory-wiki/_fixture/wiki_process.ts";

const ROUNDS = 25;

/** Edits in a row by one process, each over the version that it read: how many were taken. */
async function editing(wiki: WikiProcess, who: string): Promise<number> {
  let taken = 0;
  for (let n = 0; n < ROUNDS; n++) {
    const { page } = await wiki.ask("page", { clearance: "secret", name: "plan" });
    const done = await wiki.ask("edit", {
      ...{ name: "plan", base: page.version, by: who },
      text: `# Plan\n\nWords of ${who}, number ${n}.\n`,
    }).catch((error: unknown) => ({ state: String(error) }));
    if (done.state === "applied") taken++;
    else assert.match(JSON.stringify(done), /conflict/i);
  }
  return taken;
}

Deno.test("alice saves a page again and again while two processes change it: each of her words is in its history", async () => {
  await using folders = await makeFolders();
  await using one = await openProcess(folders);
  await using two = await openProcess(folders);
  const text = "# Plan\n\nThe first plan.\n";
  await one.ask("edit", { name: "plan", base: 0, by: "bob", text });
  const file = `${folders.folder}/pages/plan.md`;
  let over = false;
  const patching = Promise.all([editing(one, "bob"), editing(two, "carol")]).finally(() =>
    over = true
  );
  const saved: string[] = [];
  for (let n = 0; !over; n++) {
    // As editors do: the whole text beside it, then its name.
    const text = `# Plan\n\nHand-written line ${n} of alice.\n`;
    await Deno.writeTextFile(`${folders.folder}/pages/plan.md~`, text);
    await Deno.rename(`${folders.folder}/pages/plan.md~`, file);
    saved.push(text);
    await one.ask("sync", null);
  }
  const [bobs, carols] = await patching;
  await one.ask("sync", null);
  const { history } = await two.ask("page", { clearance: "secret", name: "plan" });
  const last: number = Math.max(...history.map(({ version }: { version: number }) => version));
  const added: string[] = [];
  for (let to = 2; to <= last; to++) {
    const { diff } = await two.ask("diff", { name: "plan", from: to - 1, to });
    added.push(diff.split("\n").filter((line: string) => line.startsWith("+")).join("\n"));
  }
  const lost = saved.filter((text) => !added.some((each) => each.includes(text.slice(8).trim())));
  assert.ok(saved.length > 0);
  assert.deepEqual(lost, []);
  // What was taken of the others is there, too, once for each.
  assert.equal(added.filter((text) => /Words of bob/.test(text)).length, bobs);
  assert.equal(added.filter((text) => /Words of carol/.test(text)).length, carols);
  assert.equal(await two.ask("logVerify", null).then(({ problem }) => problem), null);
});
