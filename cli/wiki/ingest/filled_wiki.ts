/** A wiki that is made and filled without a word: for stories, and for whoever needs one there. @module */
import { Fault, type Label } from "../../../contracts/mod.ts";
import { readExtract } from "../answers.ts";
import { openWiki } from "../command.ts";
import { ingestFolder } from "./files.ts";
import { makeWikiPlace, type WikiPlace, type WikiWhere } from "../place.ts";

/** What it is filled with. */
export interface WikiFilling {
  readonly folder: string;
  /** A folder of documents. */
  readonly docs: string;
  readonly label?: Label;
  readonly colour?: "YELLOW" | "RED";
}

/** Makes a wiki, takes a folder in, and makes extractive pages. It does not become the one last made. Throws `upstream` when a document fails. */
export async function provideWiki(
  where: WikiWhere,
  filling: WikiFilling,
): Promise<Pick<WikiPlace, "folder" | "state">> {
  const { disk } = where.hands;
  const docs = disk.real(filling.docs);
  if (docs === undefined) {
    throw new Fault("notFound", `Cannot fill a wiki: there is no folder "${filling.docs}"`);
  }
  const place = makeWikiPlace(where, filling.folder);
  const quiet = (): void => undefined;
  await openWiki(where, place, { create: true, reads: [docs], say: quiet }, async (wiki) => {
    const { report } = await ingestFolder(where, wiki, docs, {
      label: filling.label ?? "internal",
      colour: filling.colour ?? "YELLOW",
      owner: "operator",
    });
    const [failed] = report.failed;
    if (failed !== undefined) {
      throw new Fault("upstream", `Cannot fill a wiki: ${failed.name}: ${failed.why}`);
    }
    readExtract(await wiki.ask("extract", {}));
  });
  return { folder: place.folder, state: place.state };
}
