/** Takes what rules name out of texts before they leave the machine. @module */
import type { ChatMessage } from "../../../contracts/chat.ts";
import type { Json } from "../../../contracts/json.ts";
import type { RedactRule } from "../../../contracts/model_config.ts";
import { type Find, FINDERS } from "./finders.ts";

/** Replaces in one text. */
export type Redact = (text: string) => string;

/** Makes what replaces, for each rule in turn, by `[redacted KIND]` or `[redacted word]`. */
export function makeRedact(rules: readonly RedactRule[]): Redact {
  const steps = rules.flatMap((rule): Redact[] =>
    "word" in rule
      ? [wordStep(rule.word)]
      : FINDERS[rule.kind].map((find) => replacing(find, `[redacted ${rule.kind}]`))
  );
  return (text) => steps.reduce((left, step) => step(left), text);
}

/** Replaces in the texts of messages: contents, arguments of calls, results. */
export function redactMessages(
  messages: readonly ChatMessage[],
  redact: Redact,
): readonly ChatMessage[] {
  return messages.map((message) => ({
    ...message,
    content: redact(message.content),
    ...(message.toolCalls === undefined ? {} : {
      toolCalls: message.toolCalls.map((call) => ({
        ...call,
        arguments: redactArguments(call.arguments, redact),
      })),
    }),
  }));
}

/** Arguments stay JSON where they were: what is replaced in a number becomes a string. */
function redactArguments(text: string, redact: Redact): string {
  let changed = false;
  const one = (value: string): string => {
    const left = redact(value);
    if (left !== value) changed = true;
    return left;
  };
  const walk = (value: Json): Json => {
    if (typeof value === "string") return one(value);
    if (typeof value === "number") {
      return one(String(value)) === String(value) ? value : one(String(value));
    }
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map(walk);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [one(key), walk(each)]));
  };
  try {
    const left = walk(JSON.parse(text));
    return changed ? JSON.stringify(left) : text;
  } catch {
    // Not JSON, or too deep to walk: as a text.
    return redact(text);
  }
}

function replacing(find: Find, mark: string): Redact {
  return (text) => {
    let out = "";
    let done = 0;
    for (const [from, to] of find(text)) {
      out += text.slice(done, from) + mark;
      done = to;
    }
    return done === 0 ? text : out + text.slice(done);
  };
}

/** A word stands by itself where it begins and ends with letters or digits; letters in any case. */
function wordStep(word: string): Redact {
  const before = /^[\p{L}\p{N}_]/u.test(word) ? "(?<![\\p{L}\\p{N}_])" : "";
  const after = /[\p{L}\p{N}_]$/u.test(word) ? "(?![\\p{L}\\p{N}_])" : "";
  const literal = word.replace(/[\\^$.*+?()[\]{}|/-]/gu, "\\$&");
  const pattern = new RegExp(`${before}${literal}${after}`, "giu");
  return (text) => text.replace(pattern, "[redacted word]");
}
