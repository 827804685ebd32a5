/** What a source is called on a page. @module */
import type { WikiSource } from "../../contracts/mod.ts";

const MOST = 120;

/** The last two parts of a source's path or address, without a query: no page tells where a person's files lie. */
export function shownName(source: Pick<WikiSource, "key" | "title" | "provenance">): string {
  const { key, title, provenance: { origin } } = source;
  const [path = ""] = (origin === "-" ? key : origin).split(/[?#]/, 1);
  const parts = path.replace(/^[a-z][a-z0-9+.-]*:(?:\/\/)?/i, "").split("/").filter((part) =>
    part !== ""
  );
  const name = parts.slice(-2).join("/");
  return (name === "" ? title : name).slice(-MOST).toWellFormed();
}
