/**
 * Long answers of the control socket, sent page by page so that no answer outgrows a frame. Used by
 * control.ts for each connection; operator.ts and fleet_view.ts answer with one page.
 * @module
 */
import type { Json } from "../../contracts/base/mod.ts";
import { toJson } from "../../contracts/base/json.ts";

/** Items of a page. */
const MAX_ITEMS = 1_000;
/** Characters of JSON after which a page is full; a frame holds eight times as many. */
const MAX_CHARS = 8_000_000;

/** The long answer that one connection is reading. A connection reads one at a time. */
export interface Pages {
  /** Starts a new answer in place of the last one, and returns its first page. */
  open(items: AsyncIterable<unknown>): Promise<Json>;
  /** The next page; an empty list at the end. */
  next(): Promise<Json>;
  /** Drops unread items. */
  close(): void;
}

/** Tells whether an answer is sent page by page. */
export function isPaged(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;
}

/** Takes one page of items; at least one where any is left. */
async function take(items: AsyncIterator<unknown>): Promise<{ page: Json[]; over: boolean }> {
  const page: Json[] = [];
  for (let chars = 0; page.length < MAX_ITEMS && chars < MAX_CHARS;) {
    const { done, value } = await items.next();
    if (done === true) return { page, over: true };
    const item = toJson(value);
    chars += JSON.stringify(item).length;
    page.push(item);
  }
  return { page, over: false };
}

/** The first page of an answer whose caller asks again from another position. */
export async function firstPage(items: AsyncIterable<unknown>): Promise<readonly Json[]> {
  const from = items[Symbol.asyncIterator]();
  const { page, over } = await take(from);
  if (!over) await from.return?.();
  return page;
}

/** Makes the pages of one connection. */
export function makePages(): Pages {
  let items: AsyncIterator<unknown> | undefined;
  const close = (): void => {
    // The iterator holds only memory, so its return is not awaited.
    void items?.return?.().catch(() => undefined);
    items = undefined;
  };
  const next = async (): Promise<Json> => {
    const from = items;
    if (from === undefined) return [];
    const { page, over } = await take(from);
    if (over && items === from) items = undefined;
    return page;
  };
  return Object.freeze({
    async open(of: AsyncIterable<unknown>): Promise<Json> {
      close();
      items = of[Symbol.asyncIterator]();
      return await next();
    },
    next,
    close,
  });
}
