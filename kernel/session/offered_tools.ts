/**
 * Which tools a model is told of. A window that could hold little beside the table is offered the most
 * useful ones; where there is `tool_search`, imported tools are offered once they were found. What a model
 * is not told of it may still call, the gate knows them all.
 * @module
 */
import type { Digest, ToolDescriptor, ToolSnapshot } from "../../contracts/mod.ts";
import { estimateToolTokens } from "../../contracts/tokens.ts";
import { sha256Hex } from "../../port/digest.ts";
import { type ToolLimits, toolLimits } from "../../contracts/tool_limits.ts";
import { isCut, TOOL_DESCRIBE } from "./tool_describe.ts";
import { isImported, TOOL_SEARCH } from "./tool_search.ts";

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

/** Where programs are proposed: what runs one, and what an agent program calls by itself. */
const PROPOSED: ReadonlySet<string> = new Set(["exec", "proposal_run", "settlements"]);

/** What a model is told of. */
export interface OfferedTools {
  /** In their order. */
  readonly tools: readonly ToolDescriptor[];
  /** How many of the snapshot it is not told of. */
  readonly left: number;
  /** Names exactly these tools: the snapshot's own id where nothing is left out. */
  readonly table: Digest;
}

/**
 * The tools of a snapshot that a window of so many tokens is offered; `found`: imported ones that were looked for;
 * `backend`: the kind of who takes them.
 */
export type OfferTools = (
  snapshot: ToolSnapshot,
  window: number,
  found?: ReadonlySet<string>,
  backend?: string,
) => OfferedTools;

/** Makes the choice; what was chosen for a snapshot last is kept with it. */
export function makeOfferTools(): OfferTools {
  const made = new WeakMap<
    ToolSnapshot,
    { readonly key: string; readonly offered: OfferedTools }
  >();
  return (snapshot, window, found = NONE, backend = "") => {
    const limits = toolLimits(backend);
    const searched = snapshot.tools.some(({ name }) => name === TOOL_SEARCH.name);
    const proposes = snapshot.tools.some(({ interfaceId, name }) =>
      interfaceId === "Mail" && name === "evaluate"
    );
    const describes = snapshot.tools.some(({ name }) => name === TOOL_DESCRIBE.name);
    const told = (tool: ToolDescriptor): boolean =>
      !(searched && isImported(tool) && !found.has(tool.name)) &&
      !(proposes && PROPOSED.has(tool.name));
    const open = searched || proposes ? snapshot.tools.filter(told) : snapshot.tools;
    const shown = describes && !open.some((tool) => isCut(tool, limits))
      ? open.filter(({ name }) => name !== TOOL_DESCRIBE.name)
      : open;
    const key = `${window} ${backend} ${searched ? namesOf(shown) : ""}`;
    const before = made.get(snapshot);
    if (before?.key === key) return before.offered;
    const tools = fitting(shown, { most: window * SHARE, limits }, searched ? found : NONE);
    const left = snapshot.tools.length - tools.length;
    const table = left === 0 ? snapshot.id : sha256Hex(`${snapshot.id} ${namesOf(tools)}`);
    const offered = Object.freeze({ tools, left, table });
    made.set(snapshot, { key, offered });
    return offered;
  };
}

const NONE: ReadonlySet<string> = new Set();

function namesOf(tools: readonly ToolDescriptor[]): string {
  return tools.map(({ name }) => name).join();
}

function fitting(
  tools: readonly ToolDescriptor[],
  { most, limits }: { readonly most: number; readonly limits: ToolLimits },
  found: ReadonlySet<string>,
): readonly ToolDescriptor[] {
  if (tools.length <= limits.tools && estimateToolTokens(tools) <= most) return tools;
  const ranked = [...tools].sort((a, b) => rankOf(a, found) - rankOf(b, found));
  const kept = new Set<ToolDescriptor>();
  let left = most;
  for (const tool of ranked) {
    const size = estimateToolTokens([tool]);
    if (size > left || kept.size === limits.tools) continue;
    left -= size;
    kept.add(tool);
  }
  return Object.freeze(tools.filter((tool) => kept.has(tool)));
}

function rankOf(tool: ToolDescriptor, found: ReadonlySet<string>): number {
  const { name, permission } = tool;
  // What was looked for is wanted now.
  if (name === TOOL_SEARCH.name || name === TOOL_DESCRIBE.name) return -1;
  if (isImported(tool) && found.has(name)) return -1;
  const place = FIRST.indexOf(name);
  const rank = place < 0 ? FIRST.length : place;
  // A tool that is only explained, and never run, gives way to any other.
  return permission === "forbidden" ? FIRST.length + 1 : rank;
}
