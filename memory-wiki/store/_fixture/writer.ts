/**
 * A process that writes to a wiki, as tests start it: `writer.ts FOLDER STATE ingest|apply|append NAME`. It prints a
 * line for each change once the change is durable.
 * @module
 */
import { openWikiStore } from "../open.ts";
import { wikiStorePowers } from "../store_powers.ts";
import type { WikiStore } from "../wiki_store.ts";
import { citing, named, partsFor, sourceFrom, writePages, writing } from "./wiki_rig.ts";

/** Sources of one batch. */
export const BATCH = 12;
/** Pages that are written together. */
export const PAGES = 5;

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** The key and text of source `n` of `name`; every third one changes an existing source. */
export function ingested(name: string, n: number): readonly [string, string] {
  const key = `file:/${name}/${n - n % 3}.md`;
  return [key, `# ${name} ${n}\n\n${"words of a source ".repeat(1 + n % 40)}\n\n${n}\n`];
}

async function ingest(store: WikiStore, name: string): Promise<never> {
  for (let batch = 0;; batch++) {
    const sources = Array.from({ length: BATCH }, (_, n) => ingested(name, batch * BATCH + n));
    await store.sources.addAll(sources.map(([key, text]) => sourceFrom(key, text)));
    say(`${batch}`);
  }
}

/** Writes the same round into several pages, so that half a patch is visible. */
async function apply(store: WikiStore, name: string): Promise<never> {
  const source = await store.sources.add(sourceFrom(`file:/${name}.md`, `one of ${name}\n`));
  for (;;) {
    const at = store.pages.get(named("page-0"))?.version ?? 0;
    const body = `Round ${at + 1} of ${name}.[^1]\n\n${"words ".repeat(at * 37 % 900)}\n\n${
      citing("1", source, 1)
    }\n`;
    const changes = Array.from({ length: PAGES }, (_, n) => {
      const page = `page-${n}`;
      return writing(page, body, store.pages.get(named(page))?.version ?? 0);
    });
    const patch = await writePages(store, changes);
    say(`${patch.state} ${at + 1}`);
  }
}

/** Adds 15 words of its own to two pages, again where another writer was first. */
async function append(store: WikiStore, name: string): Promise<void> {
  say("ready");
  let conflicts = 0;
  for (let word = 0; word < 15;) {
    const changes = ["left", "right"].map((page) => {
      const have = store.pages.get(named(page));
      const text = store.pages.text(named(page), have?.version) ?? "";
      const words = text.slice(text.indexOf("\n---\n") + 5);
      return writing(page, `${words.trim()} ${name}${word}.\n`, have?.version ?? 0);
    });
    const { state } = await writePages(store, changes);
    if (state === "applied") word += 1;
    else conflicts += 1;
  }
  say(`conflicts ${conflicts}`);
}

if (import.meta.main) {
  const [folder = "", stateFolder = "", mode = "", name = ""] = Deno.args;
  const parts = partsFor(folder, stateFolder, wikiStorePowers());
  const { store } = await openWikiStore(parts);
  if (mode === "ingest") await ingest(store, name);
  else if (mode === "apply") await apply(store, name);
  else await append(store, name);
  store.close();
}
