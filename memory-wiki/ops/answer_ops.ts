/** Answers by a model, each sentence with the lines that it rests on. @module */
import * as z from "zod";
import { CheckedAnswer, Hit, WikiQuery } from "../../contracts/mod.ts";
import { checkAnswer } from "../answer/check_answer.ts";
import { fileAnswer } from "../answer/file_answer.ts";
import { planAnswer } from "../answer/plan_answer.ts";
import { type Op, reading, writing } from "./op.ts";

/** See the table in contracts/wire_wiki.ts. */
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
