/** Operations that ingest sources, by rules or by a model, and that check a model's answers. @module */
import * as z from "zod";
import { Label } from "../../contracts/authority/mod.ts";
import { Hit } from "../../contracts/memory/mod.ts";
import { CheckedAnswer, IngestFiles, WikiQuery } from "../../contracts/wire/mod.ts";
import { checkAnswer, planAnswer } from "../answer/check_answer.ts";
import { fileAnswer } from "../answer/file_answer.ts";
import { extractPages } from "../extract/mod.ts";
import { ingestFiles } from "../ingest/ingest_files.ts";
import { goneSources } from "../ingest/source_reader.ts";
import { finishWork } from "../ingest/work_finish.ts";
import { nextItem, planWork, takeItem } from "../ingest/work_items.ts";
import { type Op, reading, writing } from "./op.ts";

/** Keys per `ingestGone`. */
const MAX_KEYS = 500_000;

/** See the table in contracts/wire/wire_wiki.ts. */
export const INGEST_OPS: Readonly<Record<string, Op>> = {
  ingestFiles: writing({
    body: IngestFiles,
    run: async (wiki, ask) => await ingestFiles(wiki, ask),
  }),

  ingestGone: writing({
    body: z.object({
      keyPrefix: z.string().min(1).max(4_200),
      present: z.array(z.string().min(1).max(4_200)).max(MAX_KEYS),
      // Key prefixes that were not looked at; their keys count as present.
      unseen: z.array(z.string().min(1).max(4_200)).max(MAX_KEYS).optional(),
    }).strict(),
    run: (wiki, { keyPrefix, present, unseen = [] }) => ({
      removed: goneSources(wiki, keyPrefix, { keys: new Set(present), unseen }),
    }),
  }),

  extract: writing({
    body: z.object({ dryRun: z.boolean().optional() }).strict().nullable(),
    run: async ({ store, powers }, body) =>
      await extractPages(store, { now: powers.now, dryRun: body?.dryRun === true }),
  }),
};

// Ingestion by a model: requests, answers, and the resulting patch.

const Run = z.string().regex(/^[0-9a-f]{16}$/);
const Keys = z.array(z.string().min(1).max(4_200)).max(1_000);
const Item = z.string().regex(/^[0-9a-f]{24}$/);

/** See the table in contracts/wire/wire_wiki.ts. */
export const WORK_OPS: Readonly<Record<string, Op>> = {
  workPlan: writing({
    body: z.object({
      model: z.string().min(1).max(200),
      contextTokens: z.int().min(1).max(100_000_000),
      of: z.object({ keys: Keys, prefixes: Keys }).strict().optional(),
      again: z.boolean().optional(),
      clearance: Label.default("secret"),
    }).strict(),
    run: (wiki, { again = false, of, ...ask }) =>
      planWork(wiki, { ...ask, again, ...(of === undefined ? {} : { of }) }),
  }),

  workNext: writing({
    body: z.object({ run: Run, skip: z.array(Item).max(64).default([]) }).strict(),
    run: (wiki, { run, skip }) => nextItem(wiki, run, new Set(skip)),
  }),

  workTaken: writing({
    body: z.object({ run: Run, item: Item, text: z.string().max(2_000_000) }).strict(),
    run: (wiki, taken) => takeItem(wiki, taken),
  }),

  workFinish: writing({
    body: z.object({ run: Run, by: z.string().min(1).max(128) }).strict(),
    run: (wiki, { run }) => finishWork(wiki, run),
  }),
};

// Answers by a model, with citations per sentence.

/** See the table in contracts/wire/wire_wiki.ts. */
export const ANSWER_OPS: Readonly<Record<string, Op>> = {
  answerPlan: reading({
    body: WikiQuery,
    run: async (wiki, query) => await planAnswer(wiki, query),
  }),

  answerCheck: reading({
    body: z.object({
      question: z.string().min(1).max(4_096),
      text: z.string().max(400_000),
      found: z.looseObject({ hits: z.array(Hit).max(100) }),
    }).strict(),
    run: (wiki, ask) => checkAnswer(wiki, ask),
  }),

  answerFile: writing({
    body: z.object({
      answer: CheckedAnswer,
      model: z.string().min(1).max(200),
      by: z.string().min(1).max(128),
    }).strict(),
    run: (wiki, ask) => fileAnswer(wiki, ask),
  }),
};
