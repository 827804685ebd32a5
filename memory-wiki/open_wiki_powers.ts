/** Opens a wiki with what this process was started with: its folder, its state, the clock. @module */
import { join } from "node:path";
import { Fault, type SourceKind, type WikiOpen } from "../contracts/mod.ts";
import {
  aboutOf,
  chunkText,
  INSTRUCTIONS,
  linkKey,
  readPage,
  renderIndex,
  writePage,
} from "./markdown/mod.ts";
import type { OpenWiki, Synced, WikiHands } from "./ops/op.ts";
import { makeIndexFiles, makeWikiSearch, termsOf } from "./search/mod.ts";
import { openWikiStore } from "./store/open.ts";
import { wikiStorePowers } from "./store/store_powers.ts";

/** Passages of a raw file that was found in a wiki whose state is missing. */
function chunk(text: Uint8Array, kind: SourceKind, name: string) {
  return chunkText(kind, text, { termsOf, title: name });
}

/** Makes what `open` is served with. */
export function makeOpenWiki(): (asked: WikiOpen, hands: WikiHands) => Promise<OpenWiki> {
  return async (asked, hands) => {
    try {
      return await openWith(asked, hands);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotCapable)) throw error;
      const folder = JSON.stringify(asked.folder);
      throw new Fault("refused", `Cannot open wiki ${folder}: this process was not handed it`, {
        cause: error,
      });
    }
  };
}

async function openWith(asked: WikiOpen, hands: WikiHands): Promise<OpenWiki> {
  const { store, repaired } = await openWikiStore({
    ...asked,
    ...{ readPage, writePage, renderIndex, aboutOf, linkKey, chunk },
    instructions: INSTRUCTIONS,
    powers: wikiStorePowers(),
  });
  const search = makeWikiSearch(store, {
    now: hands.now,
    files: makeIndexFiles(join(asked.stateFolder, "index")),
  });
  let problems: Synced["problems"] = [];
  const sync = async (): Promise<Synced> => {
    const found = await store.pages.sync();
    problems = found.problems;
    return found;
  };
  if (!asked.readOnly) await sync();
  const { readOnly } = asked;
  return Object.freeze({
    ...{ store, search, hands, readOnly, repaired, sync },
    problems: () => problems,
    answered: new Set<string>(),
  });
}
