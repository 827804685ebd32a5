/** Entry of the wiki's process: one wiki, its folder and its state. docs/decision/0013. @module */
import "../port/prelude_powers.ts";
import { WIKI_PORT_LIMITS } from "../contracts/wire/wire_wiki.ts";
import { serveChild } from "../port/child_powers.ts";
import { makeSourceReader } from "./ingest/source_reader_powers.ts";
import { makeOpenWiki } from "./open_wiki_powers.ts";
import { makeWikiService } from "./service.ts";

await serveChild((port) =>
  makeWikiService(port, {
    now: () => Date.now(),
    reader: makeSourceReader(),
    open: makeOpenWiki(),
  }), WIKI_PORT_LIMITS);
