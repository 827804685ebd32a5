import assert from "node:assert/strict";
import { join } from "node:path";
import { chunkText } from "../markdown/mod.ts";
import { makeRig, sourceFrom, writePages, writing } from "../store/_fixture/wiki_rig.ts";
import { makeIndexFiles } from "./index_files_powers.ts";
import { makeWikiSearch } from "./search.ts";
import { termsOf } from "./terms.ts";

const TEXT = `# Leases

A lease can be taken back while a program holds it.

## Renewal

Whoever wants to keep one asks again in time.
`;

Deno.test("over a real wiki: cited lines are the file's lines, the index survives, a change is seen", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  const folder = join(rig.stateFolder, "search");
  const search = () => makeWikiSearch(store, { now: Date.now, files: makeIndexFiles(folder) });
  const { chunks } = chunkText("markdown", new TextEncoder().encode(TEXT), {
    termsOf,
    title: "Leases",
  });
  await store.sources.add(sourceFrom("file:/leases.md", TEXT, { chunks }));
  await writePages(store, [writing("Zebra", "# Zebra\n\nA zebra has stripes.\n")]);
  const first = search();
  const ask = async (text: string, over = first) =>
    await over.query({ text, k: 3, clearance: "internal" });

  const lease = (await ask("what can be taken back?")).hits[0];
  assert.equal(lease?.kind, "source");
  const lines = Deno.readTextFileSync(join(rig.folder, lease?.file ?? "")).split("\n");
  assert.equal(lines.slice((lease?.startLine ?? 0) - 1, lease?.endLine).join("\n"), lease?.text);

  const zebra = (await ask("stripes of a zebra")).hits[0];
  assert.equal(zebra?.file, "pages/Zebra.md");
  const page = Deno.readTextFileSync(join(rig.folder, "pages/Zebra.md")).split("\n");
  assert.equal(page.slice((zebra?.startLine ?? 0) - 1, zebra?.endLine).join("\n"), zebra?.text);

  await first.save();
  assert.equal(search().state(), "fresh");
  await writePages(store, [writing("Zebra", "# Zebra\n\nA zebra has spots.\n", 1)]);
  assert.equal(search().state(), "behind");
  assert.match((await ask("zebra spots", search())).hits[0]?.text ?? "", /spots/);
  store.close();
});
