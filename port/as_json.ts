/** A value of our own on its way into a frame. @module */
import type { Json } from "../contracts/base/json.ts";

/**
 * A value that is about to be written as JSON, as it is: `toJson` copies it, which for a conversation
 * or a table of tools takes longer than to send it. Members that are undefined are left out by the
 * writer. Only for what nobody changes before it is written.
 */
export function asJson(value: object): Json {
  return value as unknown as Json;
}
