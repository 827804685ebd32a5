/**
 * Differences between two versions of a tool's words, as lines for a person. Used by
 * cli/mcp/review_lines.ts and registry/review.ts.
 * @module
 */
import { diffArrays } from "diff";
import type { McpToolWords } from "../../../contracts/exchange/mod.ts";

/** A line of a difference. */
export interface DiffLine {
  /** `-` was removed, `+` was added, `@` is a heading in Remit's words. */
  readonly mark: " " | "-" | "+" | "@";
  /** Untrusted, except in headings. */
  readonly text: string;
}

/** Unchanged lines shown before and after a change. */
const CONTEXT_LINES = 2;
/** Removed and added lines that are searched for; beyond them, all lines count as changed. */
const MAX_EDITS = 2_000;
/** Lines of one part that are shown. */
const MAX_SHOWN = 400;

/**
 * The differences, part by part; empty when nothing changed. Undefined: the tool is new, or gone.
 */
export function diffWords(
  before: McpToolWords | undefined,
  after: McpToolWords | undefined,
): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  if (before === undefined) lines.push({ mark: "@", text: "a new tool" });
  if (after === undefined) lines.push({ mark: "@", text: "no longer there" });
  const [were, are] = [partsOf(before), partsOf(after)];
  for (const [part, was] of were) {
    const is = are.get(part) ?? [];
    const changed = changes(was, is);
    if (changed.every(({ mark }) => mark === " ")) continue;
    lines.push({ mark: "@", text: part }, ...shortened(changed));
  }
  return lines;
}

function partsOf(words: McpToolWords | undefined): ReadonlyMap<string, readonly string[]> {
  return new Map([
    ["name", sentences(words?.name)],
    ["title", sentences(words?.title)],
    ["description", sentences(words?.description)],
    ["parameters", leaves(words?.inputSchema)],
    ["result", leaves(words?.outputSchema)],
    ["annotations", leaves(words?.annotations)],
  ]);
}

/** Splits a text into lines and sentences; no character is lost. */
function sentences(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split(/(?<=\n)|(?<=[.!?] )/);
}

/** `path: value` for each leaf, sorted by name. */
function leaves(value: unknown, path = "", into: string[] = []): readonly string[] {
  if (value === undefined) return into;
  const isTree = typeof value === "object" && value !== null;
  const members = isTree ? Object.entries(value) : [];
  if (members.length === 0) {
    into.push(`${path === "" ? "all" : path}: ${JSON.stringify(value)}`);
    return into;
  }
  if (!Array.isArray(value)) members.sort(([a], [b]) => a < b ? -1 : 1);
  for (const [key, inner] of members) {
    const isPlain = !Array.isArray(value) && /^[\w$-]+$/.test(key);
    const named = Array.isArray(value) ? key : JSON.stringify(key);
    const step = isPlain ? `${path === "" ? "" : "."}${key}` : `[${named}]`;
    leaves(inner, `${path}${step}`, into);
  }
  return into;
}

/** Lines with marks: what both have in common stays, the rest is removed or added. */
function changes(was: readonly string[], is: readonly string[]): readonly DiffLine[] {
  const parts = diffArrays([...was], [...is], { maxEditLength: MAX_EDITS }) ?? [
    { value: [...was], removed: true, added: false },
    { value: [...is], removed: false, added: true },
  ];
  return parts.flatMap(({ value, added, removed }) =>
    value.map((text) => ({
      mark: added ? "+" as const : removed ? "-" as const : " " as const,
      text: text.replace(/\n$/, ""),
    }))
  );
}

/** Replaces lines far from a change by their count. */
function shortened(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = (n: number): boolean =>
    lines.slice(Math.max(0, n - CONTEXT_LINES), n + CONTEXT_LINES + 1).some(({ mark }) =>
      mark !== " "
    );
  const out: DiffLine[] = [];
  let skipped = 0;
  const noteSkipped = (): void => {
    if (skipped > 0) out.push({ mark: "@", text: `${skipped} unchanged` });
    skipped = 0;
  };
  for (const [n, line] of lines.entries()) {
    if (line.mark === " " && !isNear(n)) {
      skipped += 1;
      continue;
    }
    noteSkipped();
    if (out.length >= MAX_SHOWN) {
      return [...out, { mark: "@", text: `${lines.length - n} more lines` }];
    }
    out.push(line);
  }
  noteSkipped();
  return out;
}
