/** Compares a call with the last one of its tool, and says what an answer would cover. @module */
import type { Question } from "../../contracts/authority/mod.ts";
import { displayText } from "../../text/mod.ts";

/**
 * How a call differs from the last one of its tool; undefined where no comparison was made. `words` are Remit's, `lines`
 * untrusted values made safe.
 */
export function earlierLines({ earlier, task }: Question): {
  readonly words: string;
  readonly lines: readonly string[];
} | undefined {
  if (earlier === undefined) return undefined;
  if (earlier === null) {
    return { words: "none of this tool among the newest calls of the log", lines: [] };
  }
  const at = `${new Date(earlier.at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const where = earlier.task === task ? "in this task" : `in task ${earlier.task}`;
  const safe = (text: string): string => displayText(text, { max: 200 });
  const lines = earlier.differs.map(({ at, was, now }) =>
    safe(`${at}: ${was ?? "(not there)"} → ${now ?? "(not there)"}`)
  );
  const more = earlier.more === 0 ? [] : [`… and ${earlier.more} more values`];
  return {
    words: lines.length === 0
      ? `the same arguments, ${where}, ${at}`
      : `${where}, ${at}; what is not as it was then:`,
    lines: [...lines, ...more],
  };
}

/** The calls that an answer for the turn or the session would cover, in words. */
export function coverWords({ remember }: Pick<Question, "remember">): string {
  if (remember === undefined) return "no answer to this is remembered";
  return `answering s would store: ${displayText(remember, { max: 1_024 })}; t the same until ` +
    "this turn ends. Other arguments ask again, and so do the same ones at another colour or label";
}
