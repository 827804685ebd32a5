/** Tokens in the header `Authorization`, as RFC 6750 writes them. @module */
import { Fault } from "../contracts/fault.ts";
import { type Ask, tooMany } from "./answers.ts";
import type { Rates } from "./rate_limit.ts";

const BEARER = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i;

/** The token; undefined where the header has none, or one longer than `most` characters. */
export function tryBearer(header: string | undefined, most: number): string | undefined {
  const token = BEARER.exec(header ?? "")?.[1];
  return token === undefined || token.length > most ? undefined : token;
}

/** Whose a token is; a response for whoever tried too many. Undefined for a wrong one. */
export async function holderOf<T extends object>(
  c: Ask,
  { admit, wrong }: { admit(): Promise<T>; readonly wrong: Rates },
): Promise<T | Response | undefined> {
  try {
    return await admit();
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "denied") throw error;
    // Whoever tries tokens is slowed down; a right one is never looked at here.
    return wrong.take(c.env.caller) ? undefined : tooMany(c);
  }
}
