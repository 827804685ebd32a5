/** A part of a page as a model reads it. @module */
import type { Page } from "./page.ts";
import { Refusal } from "./refusal.ts";

/** The head, then the lines of one part. Every line of the page's own begins with a role that Remit wrote. */
export function shownPage(
  { url, status, title, notes, parts }: Page,
  { part, snapshot, before }: {
    readonly part: number;
    readonly snapshot: string;
    readonly before: string | undefined;
  },
): string {
  const lines = parts[part - 1];
  if (lines === undefined) {
    throw new Refusal("invalidArguments", `Cannot show part ${part}: the page has ${parts.length}`);
  }
  const next = part < parts.length
    ? `; more: browser_snapshot ${JSON.stringify({ url, part: part + 1 })}`
    : "";
  const head = [
    `page ${url} (status ${status})`,
    `snapshot ${snapshot}`,
    ...(title === "" ? [] : [`title ${title}`]),
    ...(parts.length === 1 ? [] : [`part ${part} of ${parts.length}${next}`]),
    ...(before === undefined ? [] : [`back: ${before}`]),
    ...notes.map((note) => `note: ${note}`),
  ];
  return `${head.join("\n")}\n\n${lines === "" ? "(nothing)" : lines}`;
}
