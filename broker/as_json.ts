/** Parsed nouns as JSON values. @module */
import type { Answer, JsonObject, Question, ToolDescriptor } from "../contracts/mod.ts";

/** The JSON value of a parsed noun: optional properties are absent, never undefined. */
export function jsonOf(noun: Question | Answer | ToolDescriptor): JsonObject {
  return JSON.parse(JSON.stringify(noun));
}
