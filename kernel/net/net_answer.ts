/** Parses what the net service answers. TRUST: it reads hostile bytes. @module */
import * as z from "zod";
import { Fault, type Json, type NetAnswer } from "../../contracts/mod.ts";

const Text = z.string().max(4_096);
const Answer = z.object({
  status: z.int().min(100).max(599),
  url: Text,
  headers: z.record(z.string().max(256), z.string().max(16_384)),
  body: z.string(),
  bytes: z.int().min(0),
  cut: z.boolean(),
  stopped: z.object({ location: z.string().max(16_384), why: Text }).strict().optional(),
  hops: z.array(
    z.object({
      method: z.string().max(16),
      url: Text,
      address: z.string().max(64),
      status: z.int().min(0).max(599),
      ms: z.number().min(0),
    }).strict(),
  ).max(32),
}).strict();

/** Parses; throws `upstream` naming the part that does not fit. */
export function parseNetAnswer(raw: Json): NetAnswer {
  const { success, data, error } = Answer.safeParse(raw);
  if (!success) {
    const where = error.issues[0]?.path.join(".") ?? "";
    throw new Fault(
      "upstream",
      `Cannot use the answer of the net service: "${where}" does not parse`,
    );
  }
  // zod keeps absent properties absent; its types cannot say so.
  return data as NetAnswer;
}
