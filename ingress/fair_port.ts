/**
 * The pipe to the starter, shared fairly: it takes so many requests at a time, and one credential's flood would take all of
 * them from other peers, from webhooks and from the page.
 * @module
 */
import { Fault } from "../contracts/fault.ts";
import type { Json } from "../contracts/json.ts";
import type { Port } from "../contracts/port.ts";

/** Requests under way of one credential, and of all credentials together: the rest is for who has none. */
const MOST_EACH = 256;
const MOST_ALL = 448;

/** The same port, whose `ask` rejects with `rateLimited` for a credential that has its share under way. */
export function makeFairPort(port: Pick<Port, "ask" | "tell">): Pick<Port, "ask" | "tell"> {
  const under = new Map<string, number>();
  let all = 0;
  return Object.freeze({
    tell: (op: string, body: Json): void => port.tell(op, body),
    async ask(op: string, body: Json): Promise<Json> {
      const token = tokenIn(body);
      if (token === undefined) return await port.ask(op, body);
      const before = under.get(token) ?? 0;
      if (before >= MOST_EACH || all >= MOST_ALL) {
        throw new Fault("rateLimited", "Cannot ask more at a time: try again later");
      }
      under.set(token, before + 1);
      all += 1;
      try {
        return await port.ask(op, body);
      } finally {
        const left = (under.get(token) ?? 1) - 1;
        if (left === 0) under.delete(token);
        else under.set(token, left);
        all -= 1;
      }
    },
  });
}

function tokenIn(body: Json): string | undefined {
  if (typeof body !== "object" || body === null || !("token" in body)) return undefined;
  const { token } = body;
  return typeof token === "string" ? token : undefined;
}
