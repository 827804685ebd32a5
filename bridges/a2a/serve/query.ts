/** What a peer lists, to what the starter is asked. Pure. A2A 1.0, section 3.1.4. @module */
import type { ListTasksRequest } from "@a2a-js/sdk";
import { type PeerQuery, PeerQuery as Query } from "../../../contracts/exchange.ts";
import { malformed } from "./refusal.ts";
import { exchangeState } from "./task.ts";

/** Tasks of a page where nobody says how many. */
const SIZE = 50;
const Asked = Query.omit({ peer: true }).strict();

/** The query. A page token is our own and opaque: the starter says whether it is one. */
export function queryOf(request: ListTasksRequest): Omit<PeerQuery, "peer"> {
  const state = exchangeState(request.status);
  const since = request.statusTimestampAfter;
  const read = Asked.safeParse({
    ...request.contextId === "" ? {} : { context: request.contextId },
    ...state === undefined ? {} : { state },
    ...since === undefined ? {} : { since: Date.parse(since) },
    size: request.pageSize ?? SIZE,
    ...request.pageToken === "" ? {} : { page: request.pageToken },
  });
  if (!read.success) throw malformed("the query does not fit");
  return read.data;
}
