/** Opens a wiki with this process's permissions for its folder and state. Used by main.ts. @module */
import { join } from "node:path";
import { Fault } from "../contracts/base/mod.ts";
import type { SourceKind } from "../contracts/memory/mod.ts";
import type { WikiOpen } from "../contracts/wire/mod.ts";
import {
  aboutOf,
  chunkText,
  INSTRUCTIONS,
  linkKey,
  readPage,
  renderIndex,
  writePage,
} from "./markdown/mod.ts";
import type { OpenWiki, Synced, WikiPowers } from "./ops/op.ts";
import { makeIndexFiles, makeWikiSearch, termsOf } from "./search/mod.ts";
import { openWikiStore } from "./store/open.ts";
import { wikiStorePowers } from "./store/store_powers.ts";

/** Passages of a raw file, for a wiki whose state is lost. */
function chunk(text: Uint8Array, kind: SourceKind, name: string) {
  return chunkText(kind, text, { termsOf, title: name });
}

/** Makes the function that serves the op `open`. */
export function makeOpenWiki(): (asked: WikiOpen, powers: WikiPowers) => Promise<OpenWiki> {
  return async (asked, powers) => {
    try {
      return await openWith(asked, powers);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotCapable)) throw error;
      const folder = JSON.stringify(asked.folder);
      throw new Fault("refused", `Cannot open wiki ${folder}: this process was not handed it`, {
        cause: error,
      });
    }
  };
}

async function openWith(asked: WikiOpen, powers: WikiPowers): Promise<OpenWiki> {
  const { store, repaired } = await openWikiStore({
    ...asked,
    ...{ readPage, writePage, renderIndex, aboutOf, linkKey, chunk },
    instructions: INSTRUCTIONS,
    powers: wikiStorePowers(),
  });
  const search = makeWikiSearch(store, {
    now: powers.now,
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
    ...{ store, search, powers, readOnly, repaired, sync },
    problems: () => problems,
    answered: new Set<string>(),
  });
}
