/** A peer's exchanges, newest change first, page by page. A2A protocol 1.0, ListTasks. @module */
import { type Exchange, Fault, type PeerPage, type PeerQuery } from "../../contracts/mod.ts";
import type { ExchangeHead } from "./head.ts";
import type { ExchangeKeeper } from "./keeper.ts";

/** Characters of contents that one page carries; it ends early where they would be more. */
const MOST_PAGE = 8_000_000;
const PAGE = /^(\d{1,16})\.(x[0-9a-z]{24})$/;

/** Finds a page. A row that changes meanwhile moves to the front, and shifts no other. */
export async function listExchanges(
  keeper: Pick<ExchangeKeeper, "list" | "whole">,
  query: Omit<PeerQuery, "peer"> & { readonly peer?: PeerQuery["peer"] | undefined },
): Promise<PeerPage> {
  const { peer, context, state, since = 0, size, page } = query;
  const after = page === undefined || page === "" ? undefined : placeIn(page);
  const fits = [...keeper.list(peer)].filter((head) =>
    (context === undefined || head.context === context) &&
    (state === undefined || head.state === state) && head.updatedAt >= since
  ).sort(newestFirst);
  const rest = after === undefined ? fits : fits.filter((head) => newestFirst(after, head) < 0);
  const exchanges: Exchange[] = [];
  let room = MOST_PAGE;
  for (const head of rest.slice(0, size)) {
    const { theirs, ours } = head.bytes;
    room -= theirs + ours;
    if (room < 0 && exchanges.length > 0) break;
    exchanges.push(await keeper.whole(head));
  }
  const last = exchanges.at(-1);
  const more = last !== undefined && exchanges.length < rest.length;
  return { exchanges, total: fits.length, next: more ? `${last.updatedAt}.${last.id}` : "" };
}

type Place = Pick<ExchangeHead, "updatedAt"> & { readonly id: string };

function newestFirst(a: Place, b: Place): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

function placeIn(page: string): Place {
  const [, at, id] = PAGE.exec(page) ?? [];
  if (at === undefined || id === undefined) {
    throw new Fault("invalidInput", "Cannot list exchanges: the page token is none of ours");
  }
  return { updatedAt: Number(at), id };
}
