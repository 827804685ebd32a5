import { Fault, type Json } from "../../contracts/mod.ts";

/** What the gateway asks, parsed: it speaks for those who are let in. Throws `invalidInput`, without their words. */
export function parseAsked<T>(
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } },
  body: Json,
): T {
  const parsed = schema.safeParse(body);
  if (!parsed.success) {
    throw new Fault("invalidInput", "Cannot serve the gateway: what it asks does not parse");
  }
  return parsed.data;
}
