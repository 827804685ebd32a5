/** A part of a snapshot as a model reads it. @module */
import { Fault } from "../contracts/fault.ts";
import { quoted } from "../text/page_text.ts";
import type { View } from "./view.ts";

/** The head, then the lines of one part. Every line of the page's own begins with a role that Remit wrote. */
export function shownView(
  { url, title, notes, parts, before }: View,
  { part, snapshot, status }: {
    readonly part: number;
    readonly snapshot: string;
    readonly status: number;
  },
): string {
  const lines = parts[part - 1];
  if (lines === undefined) {
    throw new Fault("invalidArguments", `Cannot show part ${part}: the page has ${parts.length}`);
  }
  const next = part < parts.length
    ? `; more: browser_snapshot ${JSON.stringify({ url, part: part + 1 })}`
    : "";
  const head = [
    `page ${url} (status ${status})`,
    `snapshot ${snapshot}`,
    ...(title === "" || url.endsWith(title) ? [] : [`title ${quoted(title, 300)}`]),
    ...(parts.length === 1 ? [] : [`part ${part} of ${parts.length}${next}`]),
    ...(before === undefined ? [] : [`back: ${before}`]),
    ...notes.map((note) => `note: ${note}`),
  ];
  return `${head.join("\n")}\n\n${lines === "" ? "(nothing)" : lines}`;
}
