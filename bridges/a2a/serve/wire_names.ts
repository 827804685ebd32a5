/**
 * Names of fields as ProtoJSON reads them: `historyLength`, and `history_length` as the proto writes it. What is written is
 * camel case always. A2A 1.0, section 5.5.
 * @module
 */
import { isObject, type Json } from "../../../contracts/json.ts";
import { malformed } from "./refusal.ts";

/** Fields whose values are messages of the protocol; all else is the peer's own, key by key. */
const NESTED: ReadonlySet<string> = new Set([
  "message",
  "parts",
  "configuration",
  "taskPushNotificationConfig",
  "authentication",
]);
const SNAKE = /^[a-z]{1,32}(?:_[a-z]{1,32}){1,4}$/;

/**
 * The same parameters with every name in camel case.
 * @throws {RequestMalformedError} when one is given both ways.
 */
export function inCamelCase(value: Json): Json {
  if (Array.isArray(value)) return value.map(inCamelCase);
  if (!isObject(value)) return value;
  const named = new Map<string, Json>();
  for (const [key, inner] of Object.entries(value)) {
    const name = SNAKE.test(key)
      ? key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      : key;
    if (named.has(name)) throw malformed(`${name}: given twice`);
    named.set(name, NESTED.has(name) ? inCamelCase(inner) : inner);
  }
  return Object.fromEntries(named);
}
