/** Until it is killed, writes indexes of more and more pages into the folder that its argument names. @module */
import { makeIndexFiles } from "../index_files_powers.ts";
import { makeWikiSearch } from "../search.ts";
import { makeTwinStore } from "./twin_store.ts";

const twin = makeTwinStore();
const files = makeIndexFiles(Deno.args[0] ?? "");
const search = makeWikiSearch(twin.store, { now: () => 0, files });
for (let n = 1; true; n++) {
  twin.putPage({
    name: `Page${n}`,
    text: `# Page ${n}\n\n${"Many words of a page. ".repeat(200)}\n`,
  });
  await search.query({ text: "words", k: 1, clearance: "internal" });
  await search.save();
  Deno.stdout.writeSync(new TextEncoder().encode(`${n}\n`));
}
