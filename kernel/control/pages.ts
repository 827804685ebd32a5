/** A long answer of the control socket, page by page: the asker's own pace bounds what is held. @module */
import { type Json, toJson } from "../../contracts/mod.ts";

/** Most items of a page. */
const ITEMS = 1_000;
/** Characters of JSON after which a page is full; a frame holds eight times as many. */
const CHARS = 8_000_000;

/** The long answer that one connection reads: one at a time. */
export interface Pages {
  /** Begins another one, in place of the last, and gives its first page. */
  open(items: AsyncIterable<unknown>): Promise<Json>;
  /** The next page; an empty list when there is no more. */
  next(): Promise<Json>;
  /** Lets go of what was not read. */
  close(): void;
}

/** Tells an answer that is given page by page from one that is given whole. */
export function isPaged(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;
}

/** Items as they come, as many as make a page; fewer than there are, never none of some. */
async function take(items: AsyncIterator<unknown>): Promise<{ page: Json[]; over: boolean }> {
  const page: Json[] = [];
  for (let chars = 0; page.length < ITEMS && chars < CHARS;) {
    const { done, value } = await items.next();
    if (done === true) return { page, over: true };
    const item = toJson(value);
    chars += JSON.stringify(item).length;
    page.push(item);
  }
  return { page, over: false };
}

/** The first page of what somebody asks for anew each time, from another place on. */
export async function firstPage(items: AsyncIterable<unknown>): Promise<readonly Json[]> {
  const from = items[Symbol.asyncIterator]();
  const { page, over } = await take(from);
  if (!over) await from.return?.();
  return page;
}

/** Makes the reader of one connection. */
export function makePages(): Pages {
  let items: AsyncIterator<unknown> | undefined;
  const close = (): void => {
    // What it holds is in memory alone: nobody waits until it is let go.
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
