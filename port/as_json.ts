/** A trusted value on its way into a frame. @module */
import type { Json } from "../contracts/base/json.ts";

/**
 * The value itself, typed as JSON. `toJson` makes a copy, which for a conversation or a table of
 * tools takes longer than to send it. The writer omits undefined members. Only for values that
 * nobody changes before they are written.
 */
export function asJson(value: object): Json {
  return value as unknown as Json;
}
