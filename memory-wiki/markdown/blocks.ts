/**
 * Parses Markdown into blocks, line by line, in linear time: the part of CommonMark and GFM that
 * distinguishes prose, code, headings, table rows and footnotes. Inline markup is kept.
 * @module
 */

/** Kind of a block. `header` is the first row of a table, `rule` also its second; `comment` is hidden HTML. */
export type BlockKind =
  | "heading"
  | "paragraph"
  | "item"
  | "row"
  | "header"
  | "code"
  | "note"
  | "comment"
  | "rule";

/** A block of lines. */
export interface Block {
  readonly kind: BlockKind;
  readonly line: number;
  readonly endLine: number;
  /** Without quote, list and heading markers; lines joined by newlines. */
  readonly text: string;
  /** Headings: 1 to 6. Items: columns of indentation. */
  readonly level: number;
  /** Number of `>` before it. */
  readonly quote: number;
  /** The name of a footnote definition. */
  readonly note?: string;
}

type Open = { -readonly [Key in keyof Omit<Block, "text">]: Block[Key] } & { parts: string[] };

const MARKER = /(?:[-*+]|(\d{1,9})[.)])(?:[ \t]+|$)/y;
const FENCE = /^(`{3,}|~{3,})(.*)$/s;
const HEADING = /^(#{1,6})(?:[ \t]+(.*))?$/s;
const RULE = /^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const SETEXT = /^(?:=+|-+)[ \t]*$/;
const NOTE = /^\[\^([^\s\[\]]{1,64})\]:[ \t]*(.*)$/s;
const DELIMITER = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const OF_TABLE: ReadonlySet<BlockKind> = new Set(["header", "row", "rule"]);
const MAX_DEPTH = 16;

/** Blocks of `lines` without newlines; the first line has number `firstLine`. */
export function blocksOf(lines: readonly string[], firstLine = 1): readonly Block[] {
  const reader = makeBlockReader();
  for (const [index, line] of lines.entries()) {
    reader.line(line, firstLine + index, lines[index + 1]);
  }
  reader.end();
  return reader.blocks;
}

/** Makes a line-by-line reader; `blocks` grows. `next` is looked ahead at to recognise a table. */
export function makeBlockReader(): {
  readonly blocks: Block[];
  line(raw: string, number: number, next: string | undefined): void;
  end(): void;
} {
  const blocks: Block[] = [];
  let open: Open | undefined;
  let fence: { readonly mark: string; readonly quote: number } | undefined;
  let afterBlank = true;
  let inList = false;
  let inComment = false;
  let inTable = false;

  function close(): void {
    if (open === undefined) return;
    const { parts, ...block } = open;
    blocks.push({ ...block, text: parts.join("\n") });
    open = undefined;
  }

  function begin(block: Omit<Open, "endLine">): void {
    close();
    inTable &&= OF_TABLE.has(block.kind);
    open = { ...block, endLine: block.line };
  }

  function single(kind: BlockKind, line: number, text: string, level: number, quote: number): void {
    begin({ kind, line, level, quote, parts: [text] });
    close();
  }

  function goOn(text: string, line: number): void {
    if (open === undefined) return;
    open.parts.push(text);
    open.endLine = line;
  }

  function codeLine(text: string, line: number, quote: number): void {
    if (open?.kind === "code" && open.endLine === line - 1) goOn(text, line);
    else begin({ kind: "code", line, level: 0, quote, parts: [text] });
  }

  function inFence(raw: string, number: number): boolean {
    if (fence === undefined) return false;
    const { text, quote } = unquoted(raw, fence.quote);
    if (quote < fence.quote) {
      fence = undefined;
      close();
      return false;
    }
    const trimmed = text.trim();
    const closing = trimmed.length >= fence.mark.length && trimmed.startsWith(fence.mark) &&
      allSame(trimmed);
    codeLine(text, number, quote);
    if (closing) {
      fence = undefined;
      close();
    }
    return true;
  }

  /** Consumes a line of a table. */
  function tableLine(
    text: string,
    line: number,
    quote: number,
    next: string | undefined,
  ): boolean {
    if (inTable) {
      single(DELIMITER.test(text) ? "rule" : "row", line, text, 0, quote);
      return true;
    }
    if (next === undefined || !text.includes("|") || next.length > 10_000) return false;
    const below = unquoted(next, MAX_DEPTH);
    const delimiter = below.text.trim();
    if (below.quote !== quote || !delimiter.includes("|") || !DELIMITER.test(delimiter)) {
      return false;
    }
    inTable = true;
    single("header", line, text, 0, quote);
    return true;
  }

  function itemLine(text: string, indent: number, line: number, quote: number): boolean {
    MARKER.lastIndex = 0;
    let found = MARKER.exec(text);
    if (found === null) return false;
    const number = found[1];
    // CommonMark: in a paragraph only `1.` starts a list, and an empty item does not.
    const interrupts = open?.kind === "paragraph" && !inList;
    if (interrupts && ((number !== undefined && number !== "1") || found[0] === text)) return false;
    let at = 0;
    for (let depth = 0; found !== null && depth < MAX_DEPTH; depth += 1) {
      at = MARKER.lastIndex;
      found = MARKER.exec(text);
    }
    inList = true;
    const rest = text.slice(at).replace(/^\[[ xX]\][ \t]+/, "");
    if (startFence(rest, line, quote)) return true;
    begin({ kind: "item", line, level: indent, quote, parts: [rest] });
    return true;
  }

  function startFence(text: string, line: number, quote: number): boolean {
    const found = FENCE.exec(text);
    if (found === null) return false;
    const [, mark = "", after = ""] = found;
    if (mark.startsWith("`") && after.includes("`")) return false;
    fence = { mark, quote };
    begin({ kind: "code", line, level: 0, quote, parts: [text] });
    return true;
  }

  return {
    blocks,
    line(raw, number, next): void {
      const whole = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (inComment) {
        goOn(whole, number);
        inComment = !whole.includes("-->");
        if (!inComment) close();
        return;
      }
      if (inFence(whole, number)) return;

      const { text: content, quote } = unquoted(whole, MAX_DEPTH);
      const { indent, text: untrimmed } = dedented(content);
      const text = untrimmed.trimEnd();
      if (open !== undefined && open.quote !== quote && (quote > open.quote || text === "")) {
        close();
      }
      if (text === "") {
        if (open?.kind !== "note" && open?.kind !== "code") close();
        inTable = false;
        afterBlank = true;
        return;
      }
      const blank = afterBlank;
      afterBlank = false;
      if (blank && indent >= 4 && open?.kind === "note") return goOn(text, number);
      if (blank && open?.kind === "note") close();
      if (blank && indent === 0 && !MARKER_START.test(text)) inList = false;
      const prose = open !== undefined && open.kind !== "code";
      if (indent >= 4 && !inList && !prose) return codeLine(content, number, quote);
      if (open?.kind === "code") close();

      const shallow = indent < 4 || inList;
      if (shallow && text.startsWith("<!--")) {
        begin({ kind: "comment", line: number, level: 0, quote, parts: [text] });
        inComment = !text.includes("-->");
        if (!inComment) close();
        return;
      }
      if (shallow && startFence(text, number, quote)) return;
      const heading = shallow ? HEADING.exec(text) : null;
      if (heading !== null) {
        const words = (heading[2] ?? "").replace(/(?:^|[ \t])#+$/, "").trim();
        return single("heading", number, words, (heading[1] ?? "#").length, quote);
      }
      if (shallow && open?.kind === "paragraph" && SETEXT.test(text) && open.quote === quote) {
        goOn("", number);
        open.kind = "heading";
        open.level = text.startsWith("=") ? 1 : 2;
        open.parts.pop();
        return close();
      }
      if (shallow && RULE.test(text)) {
        inTable = false;
        return single("rule", number, text, 0, quote);
      }
      const note = shallow ? NOTE.exec(text) : null;
      if (note !== null) {
        const [, name = "", rest = ""] = note;
        return begin({ kind: "note", line: number, level: 0, quote, note: name, parts: [rest] });
      }
      if (shallow && itemLine(text, indent, number, quote)) return;
      if (shallow && tableLine(text, number, quote, next)) return;
      if (open !== undefined) return goOn(text, number);
      begin({ kind: "paragraph", line: number, level: 0, quote, parts: [text] });
    },
    end: close,
  };
}

const MARKER_START = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;

// Quote markers and indentation before a line.

/** Removes at most `max` quote markers. */
function unquoted(
  line: string,
  max: number,
): { readonly text: string; readonly quote: number } {
  let [at, quote] = [0, 0];
  while (quote < max) {
    let mark = at;
    while (mark - at < 3 && line[mark] === " ") mark += 1;
    if (line[mark] !== ">") break;
    at = mark + 1;
    if (line[at] === " " || line[at] === "\t") at += 1;
    quote += 1;
  }
  return { text: at === 0 ? line : line.slice(at), quote };
}

/** Columns of indentation, and the line without it. */
function dedented(line: string): { readonly indent: number; readonly text: string } {
  let [at, indent] = [0, 0];
  for (;; at += 1) {
    if (line[at] === " ") indent += 1;
    else if (line[at] === "\t") indent += 4 - indent % 4;
    else return { indent, text: at === 0 ? line : line.slice(at) };
  }
}

/** Whether a text repeats one character. */
function allSame(text: string): boolean {
  const first = text[0];
  for (let at = 1; at < text.length; at += 1) if (text[at] !== first) return false;
  return true;
}
