/** What a language model fills in to answer a question from snippets: version 1. Never changed, only followed. @module */
import * as z from "zod";

/** Most sentences of one answer. */
export const MOST_SENTENCES = 40;

const Line = z.int().min(1).max(100_000_000);

/** One answer, by its shape alone. */
export const AnswerV1 = z.object({
  version: z.literal(1),
  sentences: z.array(
    z.object({
      text: z.string().min(1).max(1_000),
      /** Numbers of snippets, and the lines of theirs that say so. */
      citations: z.array(
        z.object({ snippet: z.int().min(1).max(100), startLine: Line, endLine: Line }).strict(),
      ).max(8),
    }).strict(),
  ).max(MOST_SENTENCES),
}).strict();
/** See {@link AnswerV1}. */
export type AnswerV1 = z.infer<typeof AnswerV1>;

/** JSON Schema of {@link AnswerV1}, as a model is given it. */
export const ANSWER_SCHEMA_V1: string = JSON.stringify(
  z.toJSONSchema(AnswerV1, { target: "draft-7" }),
);
