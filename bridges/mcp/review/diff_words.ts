/** Differences between two versions of a tool's words, as lines for a person. @module */
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
/** Lines that are compared one by one; of longer texts only the common beginning and end are found. */
const MAX_COMPARED = 600;
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

/** Lines with marks: the longest common subsequence stays, the rest is removed or added. */
function changes(was: readonly string[], is: readonly string[]): readonly DiffLine[] {
  let from = 0;
  while (from < was.length && from < is.length && was[from] === is[from]) from += 1;
  let end = 0;
  const room = Math.min(was.length, is.length) - from;
  while (end < room && was.at(-1 - end) === is.at(-1 - end)) end += 1;
  const as = (mark: DiffLine["mark"], texts: readonly string[]): readonly DiffLine[] =>
    texts.map((text) => ({ mark, text: text.replace(/\n$/, "") }));
  const [old, young] = [was.slice(from, was.length - end), is.slice(from, is.length - end)];
  const middle = old.length > MAX_COMPARED || young.length > MAX_COMPARED
    ? [...as("-", old), ...as("+", young)]
    : inner(old, young).flatMap(([mark, text]) => as(mark, [text]));
  return [...as(" ", was.slice(0, from)), ...middle, ...as(" ", was.slice(was.length - end))];
}

function inner(old: readonly string[], young: readonly string[]): [DiffLine["mark"], string][] {
  const width = young.length + 1;
  /** Length of the longest common subsequence of the remaining lines. */
  const common = new Uint16Array((old.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      common[i * width + j] = old[i] === young[j]
        ? at(i + 1, j + 1) + 1
        : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: [DiffLine["mark"], string][] = [];
  for (let i = 0, j = 0; i < old.length || j < young.length;) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      lines.push([" ", old[i++] ?? ""]);
      j += 1;
    } else if (j >= young.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(["-", old[i++] ?? ""]);
    } else lines.push(["+", young[j++] ?? ""]);
  }
  return lines;
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
