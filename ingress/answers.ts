/** What all routes answer alike: refusals that tell nothing of ours. @module */
import type { Context, Hono } from "hono";
import type { HeldBody } from "./body_room.ts";

/** What the server says of a connection. */
export interface Connection {
  /** The peer's address, without its port. */
  readonly address: string;
  /** Under which its requests are counted. */
  readonly caller: string;
  /** Room for the request's body. Absent: as much as there is. */
  readonly body?: HeldBody;
}

/** A connection's, as the routes have it. */
export type Env = { Bindings: Connection };
/** A request under way. */
export type Ask = Context<Env>;
/** Where routes are added. */
export type Routes = Hono<Env>;

/** Refuses with a status and a plain sentence. */
export function refuse(
  c: Ask,
  status: 400 | 401 | 403 | 404 | 405 | 408 | 413 | 429 | 500 | 503,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return c.json({ error }, status, headers);
}

/** Refuses who asks too often. */
export function tooMany(c: Ask): Response {
  return refuse(c, 429, "too many requests", { "retry-after": "10" });
}

/** Says that there is nothing: the same words for what is not there and what is not theirs. */
export function nothing(c: Ask): Response {
  return refuse(c, 404, "there is nothing here");
}
