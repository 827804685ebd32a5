import assert from "node:assert/strict";
import { PageName } from "../../contracts/memory/mod.ts";
import { makeOramaWords } from "./_fixture/orama_words.ts";
import { makeMemoryFiles } from "./_fixture/memory_files.ts";
import { makeTwinStore, type TwinStore } from "./_fixture/twin_store.ts";
import { openIndex, writeIndex } from "./index_file.ts";
import { makePageIndex, type PageIndex } from "./page_index.ts";
import { queryTerms } from "./retrieval.ts";

const HOME = new URL("../../", import.meta.url);
/** As many as the search takes of a list. */
const BEST = 150;

function textsOf(folder: string): readonly (readonly [string, string])[] {
  return [...Deno.readDirSync(new URL(folder, HOME))].filter(({ name }) => name.endsWith(".md"))
    .map(({ name }) => name).sort().map((name) =>
      [name.slice(0, -3), Deno.readTextFileSync(new URL(`${folder}${name}`, HOME))] as const
    );
}

function questions(): readonly string[] {
  const read = (name: string): { readonly questions: readonly { readonly question: string }[] } =>
    JSON.parse(Deno.readTextFileSync(new URL(`bench/_data/${name}`, HOME)));
  const asked = [
    ...["what is a lease", "how is a task resumed after a crash", "where are keys kept"],
    ...["which walls hold a granted program", "file_search limits", "A2A peers and MCP servers"],
  ];
  return [
    ...asked,
    ...["wiki_questions.json", "wiki_invented.json"].flatMap((name) =>
      read(name).questions.map(({ question }) => question)
    ),
  ];
}

/** What Orama puts first, over the same pages, as `name:n`. */
function byOrama(pages: PageIndex): (terms: readonly string[]) => readonly string[] {
  const all = [...pages.all()].flatMap(({ name, titleTerms, sections }) =>
    sections.map(({ headingTerms, bodyTerms }, n) => ({
      place: `${name}:${n}`,
      words: { title: titleTerms, headings: headingTerms, body: bodyTerms },
    }))
  );
  const find = makeOramaWords(all.map(({ words }) => words));
  return (terms) => find(terms, BEST).map((n) => all[n]?.place ?? "");
}

/** Asks every `step`th question; gives how many places were compared. */
function compared(pages: PageIndex, step = 5): number {
  const orama = byOrama(pages);
  let count = 0;
  for (const question of questions().filter((_, n) => n % step === 0)) {
    const terms = queryTerms(question);
    const found = pages.find(terms, BEST).map(({ name, n }) => `${name}:${n}`);
    assert.deepEqual(found, orama(terms), question);
    count += found.length;
  }
  return count;
}

function kept(twin: TwinStore, pages: PageIndex): PageIndex {
  const files = makeMemoryFiles();
  files.write("x", writeIndex("internal", pages.generation, pages.all()));
  const bytes = files.open("x");
  const file = bytes === undefined ? undefined : openIndex("internal", bytes);
  assert.ok(file !== undefined);
  return makePageIndex(twin.store, "internal", { kept: file });
}

Deno.test("passages of pages are ordered as Orama orders them: in memory, as kept, and after changes of what is kept", () => {
  const twin = makeTwinStore();
  const decisions = textsOf("docs/decision/");
  for (const [name, text] of [...textsOf("docs/"), ...decisions]) {
    const title = /^# (.*)$/m.exec(text)?.[1] ?? name;
    twin.putPage({ name: PageName.parse(name.replaceAll("_", "-")), title, text });
  }
  const fresh = makePageIndex(twin.store, "internal");
  fresh.follow();
  const all = compared(fresh, 1);
  assert.ok(all > 20_000, `${all} places`);
  const places = compared(fresh);
  const again = kept(twin, fresh);
  assert.equal(again.follow(), 0);
  assert.equal(compared(again), places);

  decisions.forEach(([name, text], n) => {
    const own = name.replaceAll("_", "-");
    if (n % 5 === 0) twin.dropPage(own);
    else if (n % 5 === 1) {
      twin.putPage({ name: own, text: text.split("\n").toReversed().join("\n") });
    }
  });
  assert.ok(again.follow() > 20);
  const changed = compared(again);
  const anew = makePageIndex(twin.store, "internal");
  anew.follow();
  assert.equal(compared(anew), changed);
  for (const word of ["leas", "task", "file", "the", "nowhere-at-all"]) {
    assert.equal(again.frequency(word), anew.frequency(word), word);
  }
  assert.equal(again.averageTerms(), anew.averageTerms());
  assert.deepEqual([...again.all()], [...anew.all()]);
  assert.equal(compared(kept(twin, again)), changed);
});
