/**
 * Which tools a model is told of. A window that could hold little beside the table is offered the most
 * useful ones: what it is not told of it may still call, the gate knows them all. Issue 4.
 * @module
 */
import type { ToolDescriptor, ToolSnapshot } from "../contracts/mod.ts";
import { estimateToolTokens } from "../contracts/tokens.ts";

/** Share of the window that the table may take. */
const SHARE = 0.3;

/** What comes first where not all fit: look, read, change, then compute and fetch. */
const FIRST = [
  "file_list",
  "file_read",
  "file_search",
  "file_edit",
  "file_write",
  "text_search",
  "exec",
  "command",
  "file_delete",
  "web_read",
  "http_fetch",
  "json_select",
  "file_stat",
];

/** The tools of a snapshot that a window of so many tokens is offered, in their order. */
export type OfferTools = (
  snapshot: ToolSnapshot,
  window: number,
) => { readonly tools: readonly ToolDescriptor[]; readonly left: number };

/** Makes the choice; what was chosen for a snapshot is kept with it. */
export function makeOfferTools(): OfferTools {
  const made = new WeakMap<ToolSnapshot, Map<number, ReturnType<OfferTools>>>();
  return (snapshot, window) => {
    const known = made.get(snapshot) ?? new Map<number, ReturnType<OfferTools>>();
    made.set(snapshot, known);
    const before = known.get(window);
    if (before !== undefined) return before;
    const tools = fitting(snapshot.tools, window * SHARE);
    const offered = Object.freeze({ tools, left: snapshot.tools.length - tools.length });
    known.set(window, offered);
    return offered;
  };
}

function fitting(
  tools: readonly ToolDescriptor[],
  most: number,
): readonly ToolDescriptor[] {
  if (estimateToolTokens(tools) <= most) return tools;
  const ranked = [...tools].sort((a, b) => rankOf(a) - rankOf(b));
  const kept = new Set<ToolDescriptor>();
  let left = most;
  for (const tool of ranked) {
    const size = estimateToolTokens([tool]);
    if (size > left) continue;
    left -= size;
    kept.add(tool);
  }
  return Object.freeze(tools.filter((tool) => kept.has(tool)));
}

function rankOf({ name, permission }: ToolDescriptor): number {
  const place = FIRST.indexOf(name);
  const rank = place < 0 ? FIRST.length : place;
  // A tool that is only explained, and never run, gives way to any other.
  return permission === "forbidden" ? FIRST.length + 1 : rank;
}
