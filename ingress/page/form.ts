/** A plain form's fields, read once with limits. @module */
import * as z from "zod";
import { Digest } from "../../contracts/ids.ts";

/** Most bytes of a form. */
export const FORM_BYTES = 65_536;

const sealed = z.string().max(128);

/** The fields of each form. */
export const FORMS = {
  login: z.object({ code: z.string().min(1).max(128) }).strict(),
  logout: z.object({ token: sealed }).strict(),
  answer: z.object({
    token: sealed,
    shown: Digest,
    decision: z.enum(["allow", "deny"]),
    say: z.string().max(2_000).optional(),
  }).strict(),
} as const;

/** Reads a form; undefined for one that is not as it should be, or has a field twice. */
export function tryForm<T>(
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } },
  bytes: Uint8Array,
): T | undefined {
  const entries = [...new URLSearchParams(new TextDecoder().decode(bytes))];
  const fields = Object.fromEntries(entries);
  if (Object.keys(fields).length !== entries.length) return undefined;
  const parsed = schema.safeParse(fields);
  return parsed.success ? parsed.data : undefined;
}
