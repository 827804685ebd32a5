import assert from "node:assert/strict";
import { citing, makeRig, named, sourceFrom, writePages, writing } from "./_fixture/wiki_rig.ts";

Deno.test("a new wiki has raw/, pages/, index.md, log.md and AGENTS.md, and opens again as it was", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const source = await store.sources.add(
    sourceFrom("file:/docs/lease.md", "# Lease\n\nA lease ends.\n"),
  );
  const patch = await writePages(store, [
    writing("lease", `A lease ends.[^1] See [[nothing]].\n\n${citing("1", source, 3)}\n`),
  ]);
  assert.equal(patch.state, "applied");
  store.close();
  const again = await rig.open({ create: false });
  assert.deepEqual(again.repaired, []);
  const page = again.store.pages.get(named("lease"));
  assert.equal(page?.version, 1);
  assert.deepEqual([page?.colour, page?.label], ["YELLOW", "internal"]);
  assert.deepEqual(page?.citations.map(({ source, startLine }) => [source, startLine]), [
    [source.digest, 3],
  ]);
  assert.equal(again.store.pages.onDisk(named("lease")), again.store.pages.text(named("lease")));
  assert.match(Deno.readTextFileSync(`${rig.folder}/index.md`), /\[\[lease\]\]/);
  assert.match(Deno.readTextFileSync(`${rig.folder}/log.md`), /was applied \(lease\)/);
  assert.equal(Deno.readTextFileSync(`${rig.folder}/AGENTS.md`), "# Instructions\n");
  assert.equal(again.store.log.verify(), undefined);
  again.store.close();
});
