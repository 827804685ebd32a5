/** What a reviewer must answer, and what a worker must leave: schemas, and how an answer is read. @module */
import * as z from "zod";

const words = z.string().min(1).max(8_000);

/** A review: four parts, each said, and a verdict. */
export const SwarmReview = z.object({
  verdict: z.enum(["approve", "reject"]),
  /** What the change does, and whether that is what the issue asks for. */
  behaviour: words,
  /** What the change makes possible for an attacker. */
  security: words,
  /** Which tests hold it, and which are missing. */
  tests: words,
  /** What the reviewer could not judge. */
  residualDoubt: words,
  findings: z.array(
    z.object({
      path: z.string().max(512),
      line: z.int().min(1).optional(),
      what: words,
    }).strict(),
  ).max(50).default([]),
}).strict().refine(
  ({ verdict, findings }) => verdict === "approve" || findings.length > 0,
  { message: "a change that is rejected has a finding", path: ["findings"] },
);
/** See {@link SwarmReview}. */
export type SwarmReview = z.infer<typeof SwarmReview>;

/** How the answer is asked for. */
export const REVIEW_FORM =
  `Answer with one JSON object and nothing else: {"verdict": "approve" or "reject", "behaviour": what the change ` +
  `does and whether the issue asks for it, "security": what it makes possible for an attacker, "tests": what holds it and ` +
  `what is missing, "residualDoubt": what you could not judge, "findings": [{"path", "line" (optional), "what"}]}. ` +
  `Who rejects names at least one finding.`;

/** Reads a review: the whole answer is the object, with at most a code fence around it. */
export function parseReview(answer: string): SwarmReview | { readonly misfit: string } {
  const bare = /^\s*```(?:json)?\n([\s\S]*?)\n```\s*$/.exec(answer)?.[1] ?? answer;
  let value: unknown;
  try {
    value = JSON.parse(bare);
  } catch {
    return { misfit: "the answer is no JSON object" };
  }
  const parsed = SwarmReview.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return { misfit: `${issue?.path.join(".") || "the answer"}: ${issue?.message ?? "is wrong"}` };
}

/** What an earlier try left for the next: told to a worker as data, never as instructions. */
export const Handoff = z.object({
  attempt: z.int(),
  /** Why its change did not stand. */
  why: z.string().max(8_000),
  /** Files that it changed. */
  artifacts: z.array(z.string().max(4_096)).max(10_000),
  /** What was checked, and what it came to. */
  verification: z.string().max(8_000),
  /** What the worker itself said at its end. */
  said: z.string().max(4_000),
}).strict();
/** See {@link Handoff}. */
export type Handoff = z.infer<typeof Handoff>;
