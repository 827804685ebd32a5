/** Taking sources in, and the pages that rules make of them. @module */
import * as z from "zod";
import { IngestFiles } from "../../contracts/mod.ts";
import { extractPages } from "../extract/mod.ts";
import { goneSources } from "../ingest/gone_sources.ts";
import { ingestFiles } from "../ingest/ingest_files.ts";
import { type Op, writing } from "./op.ts";

/** Most keys of one `ingestGone`. */
const MOST_KEYS = 500_000;

/** See the table in contracts/wire_wiki.ts. */
export const INGEST_OPS: Readonly<Record<string, Op>> = {
  ingestFiles: writing({
    body: IngestFiles,
    run: async (wiki, ask) => await ingestFiles(wiki, ask),
  }),

  ingestGone: writing({
    body: z.object({
      keyPrefix: z.string().min(1).max(4_200),
      present: z.array(z.string().min(1).max(4_200)).max(MOST_KEYS),
      // What was not looked at: a key that begins so is as present.
      unseen: z.array(z.string().min(1).max(4_200)).max(MOST_KEYS).optional(),
    }).strict(),
    run: (wiki, { keyPrefix, present, unseen = [] }) => ({
      removed: goneSources(wiki, keyPrefix, { keys: new Set(present), unseen }),
    }),
  }),

  extract: writing({
    body: z.object({ dryRun: z.boolean().optional() }).strict().nullable(),
    run: async ({ store, hands }, body) =>
      await extractPages(store, { now: hands.now, dryRun: body?.dryRun === true }),
  }),
};
