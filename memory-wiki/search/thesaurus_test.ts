import assert from "node:assert/strict";
import { makeMemoryFiles } from "./_fixture/memory_files.ts";
import { makeTwinStore } from "./_fixture/twin_store.ts";
import { queryTerms } from "./retrieval.ts";
import { makeWikiSearch } from "./search.ts";
import { alikeOf, MOST_ALIKE } from "./thesaurus.ts";

Deno.test("a word stands for those of its groups, and never for one that was asked itself", () => {
  const alike = alikeOf(queryTerms("delete a folder"));
  assert.ok(alike.get("delet")?.includes("remov"));
  assert.ok(alike.get("folder")?.includes("directori"));
  const both = alikeOf(queryTerms("delete or remove the zebra"));
  assert.ok(!both.get("delet")?.includes("remov"));
  assert.equal(both.has("zebra"), false);
});

Deno.test("however long a question, few like words are asked for", () => {
  const long =
    "error stop start show find remove keep write check list fast run print change user " +
    "server program library process page test skip create close display fail result time row token";
  const alike = alikeOf(queryTerms(long));
  assert.equal([...alike.values()].flat().length, MOST_ALIKE);
});

Deno.test("carol asks in other words and finds what holds none of hers; her own words come first where they are", async () => {
  const twin = makeTwinStore();
  twin.putPage({ name: "Fruit", text: "# Fruit\n\nApples grow on trees.\n" });
  twin.putPage({ name: "Rm", text: "# Rm\n\nDeletes a directory for good.\n" });
  const search = makeWikiSearch(twin.store, { now: () => 0, files: makeMemoryFiles() });
  const ask = async (): Promise<string | undefined> => {
    const q = { text: "remove a folder", k: 5, clearance: "internal" } as const;
    return (await search.query(q)).hits[0]?.file;
  };
  assert.equal(await ask(), "pages/Rm.md");
  twin.putPage({ name: "Binder", text: "# Binder\n\nHow to remove a folder.\n" });
  assert.equal(await ask(), "pages/Binder.md");
  twin.close();
});
