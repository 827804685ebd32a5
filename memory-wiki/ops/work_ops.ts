/** Ingest by a model: what it is asked, what it answered, and the patch of it. @module */
import * as z from "zod";
import { Label } from "../../contracts/mod.ts";
import { finishWork } from "../ingest/work_finish.ts";
import { nextItem, takeItem } from "../ingest/work_items.ts";
import { planWork } from "../ingest/work_plan.ts";
import { type Op, writing } from "./op.ts";

const Run = z.string().regex(/^[0-9a-f]{16}$/);
const Keys = z.array(z.string().min(1).max(4_200)).max(1_000);
const Item = z.string().regex(/^[0-9a-f]{24}$/);

/** See the table in contracts/wire_wiki.ts. */
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
