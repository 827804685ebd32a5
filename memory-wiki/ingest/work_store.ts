/** Stores runs and answers of a model ingest, so that a later run continues. @module */
import * as z from "zod";
import { Colour, Digest, Label } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { PatchName, type WikiSource } from "../../contracts/memory/mod.ts";
import type { WikiDocuments, WikiStore } from "../store/wiki_store.ts";
import { ExtractionV1 } from "./check_extraction.ts";

/** A part of a source. */
export const StoredItem = z.object({
  id: z.string().regex(/^[0-9a-f]{24}$/),
  source: z.int().min(1),
  from: z.int().min(1),
  to: z.int().min(1),
});
export type StoredItem = z.infer<typeof StoredItem>;

/** A run over some sources. */
const StoredRun = z.object({
  run: z.string().regex(/^[0-9a-f]{16}$/),
  model: z.string().max(256),
  contextTokens: z.int(),
  items: z.array(StoredItem),
  /** Sources that a patch includes. */
  merged: z.array(z.int()),
  /** The patch of the last finish. */
  patch: PatchName.optional(),
});
export type StoredRun = z.infer<typeof StoredRun>;

/** The answer for an item. */
export const StoredAnswer = z.object({
  /** Number of answers; 0 while the first is pending. */
  tries: z.int().min(0),
  /** The valid part; undefined if no answer had the right shape. */
  extraction: ExtractionV1.optional(),
  problems: z.array(z.string()),
  done: z.boolean(),
  /** Pages in the prompt, with their statements. */
  pages: z.array(z.object({ name: z.string(), title: z.string(), claims: z.array(z.string()) })),
});
export type StoredAnswer = z.infer<typeof StoredAnswer>;

/** Records that a patch includes a source, as read by this model. */
const StoredDone = z.object({ source: Digest, model: z.string(), label: Label, colour: Colour });

/** Runs and answers. */
export interface WorkStore {
  /** @throws Fault `notFound`. */
  run(run: string): StoredRun;
  putRun(run: StoredRun): void;
  answer(item: string): StoredAnswer | undefined;
  putAnswer(item: string, answer: StoredAnswer): void;
  dropAnswer(item: string): void;
  isDone(model: string, source: Digest): boolean;
  putDone(done: z.infer<typeof StoredDone>): void;
}

/** Stores them among the wiki's documents. */
export function makeWorkStore(documents: WikiDocuments): WorkStore {
  const read = <S extends z.ZodType>(name: string, schema: S): z.infer<S> | undefined => {
    const parsed = schema.safeParse(documents.get(name));
    return parsed.success ? parsed.data : undefined;
  };
  return Object.freeze<WorkStore>({
    run(run) {
      const found = read(`work/run/${run}`, StoredRun);
      if (found !== undefined) return found;
      throw new Fault("notFound", `Cannot find run ${JSON.stringify(run)}: plan one first`);
    },
    putRun: (run) => documents.put(`work/run/${run.run}`, run),
    answer: (item) => read(`work/answer/${item}`, StoredAnswer),
    putAnswer: (item, answer) => documents.put(`work/answer/${item}`, answer),
    dropAnswer: (item) => documents.remove(`work/answer/${item}`),
    isDone: (model, source) => read(`work/done/${source}/${model}`, StoredDone) !== undefined,
    putDone: (done) => documents.put(`work/done/${done.source}/${done.model}`, done),
  });
}

// Reading the lines of a source's text.

/** Lines per read. */
const READ_LINES = 5_000;
/** Bytes per read. */
const MAX_READ_BYTES = 8_000_000;

/** Lines `from` to `to` of a source, all by default. Text beyond 8 MB per read is left out. */
export function linesOf(
  store: WikiStore,
  source: WikiSource,
  from = 1,
  to: number = source.lines,
): readonly string[] {
  const last = Math.min(to, source.lines);
  const lines: string[] = [];
  while (from + lines.length <= last) {
    const start = from + lines.length;
    const end = Math.min(last, start + READ_LINES - 1);
    const text = store.sources.lines(source, start, end, MAX_READ_BYTES);
    const step = text.split("\n");
    lines.push(...step.slice(0, end - start + 1));
  }
  return lines;
}
