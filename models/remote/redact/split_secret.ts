/** A credential that comes back a few letters an event: no piece holds it, and whoever joins them reads it. @module */
import { scrubText } from "./scrub.ts";
import { fieldsOf, numberOf, tryJson } from "../wire_json.ts";

/** Levels of an event that are looked at: no protocol has a text deeper down. */
const DEEPEST = 32;

/**
 * Tells whether a field of an answer's events holds a secret once its texts are joined. `answer` is a
 * stream of events, or of lines of JSON.
 */
export function holdsSplit(answer: string, secrets: readonly string[]): boolean {
  if (secrets.length === 0) return false;
  const joined = new Map<string, string[]>();
  for (const line of answer.split("\n")) {
    collect(tryJson(line.startsWith("data:") ? line.slice("data:".length) : line), "", joined);
  }
  return [...joined.values()].map((texts) => texts.join("")).some((text) =>
    scrubText(text, secrets) !== text
  );
}

/** Puts each text to those of the same place: members, and the `index` by which calls are told apart. */
function collect(value: unknown, place: string, joined: Map<string, string[]>, depth = 0): void {
  if (typeof value === "string") {
    const texts = joined.get(place);
    if (texts === undefined) joined.set(place, [value]);
    else texts.push(value);
  } else if (depth === DEEPEST) return;
  else if (Array.isArray(value)) {
    for (const each of value) collect(each, `${place}[]`, joined, depth + 1);
  } else {
    const fields = fieldsOf(value);
    const index = numberOf(fields["index"]) ?? "";
    for (const [name, each] of Object.entries(fields)) {
      collect(each, `${place}${index}.${name}`, joined, depth + 1);
    }
  }
}
