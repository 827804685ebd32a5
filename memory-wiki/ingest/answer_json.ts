/** The JSON within a model's answer. @module */
import { Fault, type Json } from "../../contracts/mod.ts";
import { parseJson } from "../../port/parse.ts";

/** Longest answer that is read, bytes. */
const MOST_BYTES = 400_000;

/**
 * Reads an answer that is JSON, within a code fence or with words around it; undefined when there is none.
 * What it holds is for a schema to say.
 */
export function parseAnswerJson(answer: string): Json | undefined {
  const text = answer.slice(0, MOST_BYTES);
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}");
  if (from < 0 || to < from) return undefined;
  try {
    return parseJson(text.slice(from, to + 1), {
      frameBytes: MOST_BYTES * 4,
      depth: 16,
      nodes: 20_000,
    });
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
