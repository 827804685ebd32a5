/**
 * Shows an answer in Markdown while a model writes it: words appear as they arrive, wrapped at the width, with emphasis,
 * headings, lists and code in the terminal's styles. All text passes `displayText`, so no escape of the model's gets through.
 * headings, lists and code in the terminal's own styles. Everything passes `displayText`; no escape of the model's does.
 *
 * @module
 */
import { displayText } from "../../text/mod.ts";
import { columnsOf, hardWrap } from "./columns.ts";
import type { Paint } from "./paint.ts";

/** Colours one finished line of code; `before` is the code of the same block above it. */
export type Highlight = (line: string, language: string, before: readonly string[]) => string;

/** The style and width of an answer. */
export interface AnswerOptions {
  readonly paint: Paint;
  /** Columns of a line. */
  readonly width: number;
  readonly highlight?: Highlight | undefined;
}

/** Renders an answer in pieces. Each call returns the output for now: safe text with styles and line ends. */
export interface AnswerView {
  /** Takes the next piece, cut anywhere. */
  push(piece: string): string;
  /** Returns the rest, with the end of the last line; the view is then ready for the next answer. */
  end(): string;
}

/** Most characters of a line that are held back for its end, or the end of a word. */
const MAX_HELD = 4_096;
/** Most columns of one word. */
const MAX_WORD_COLUMNS = 2_000;
/** Lines above that colour a line of code: a longer string or comment loses its colour. */
const MAX_CODE_LINES = 40;

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^`]*$/;
const HEADING = /^(#{1,6}) +/;
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)]) +/;
const QUOTE = /^ {0,3}> ?/;
/** Beginnings of a line that may still become a block. */
const UNDECIDED =
  /^[ \t]*(?:#{0,6}|[-*_+]+[ \t]*|\d{0,9}[.)]?|`{1,}[^\n]*|~{1,}[^\n]*|> ?|\|[^\n]*)?$/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$/;

interface Inline {
  bold: boolean;
  italic: boolean;
  code: boolean;
}

/** Makes the view of one answer after another. */
export function makeAnswerView({ paint, width, highlight }: AnswerOptions): AnswerView {
  /** Text that arrived and is not shown yet: the beginning of a line, or a word. */
  let held = "";
  let inLine = false;
  let fence:
    | { readonly mark: string; readonly language: string; readonly lines: string[] }
    | undefined;
  const inline: Inline = { bold: false, italic: false, code: false };
  let heading = false;
  /** Columns used in the row. */
  let column = 0;
  /** The beginning of continued rows, `indent` columns wide. */
  let hanging = "";
  let indent = 0;
  let gap = "";

  const styled = (text: string): string => {
    if (inline.code) return paint.cyan(text);
    if (heading || inline.bold) return paint.bold(text);
    return inline.italic ? paint.dim(text) : text;
  };

  /** Renders one word, without its marks of emphasis. */
  const word = (raw: string): string => {
    const parts: { readonly text: string; readonly shown: string }[] = [];
    let rest = raw;
    const put = (text: string): void => {
      if (text === "") return;
      const safe = displayText(text, { max: MAX_WORD_COLUMNS });
      parts.push({ text: safe, shown: styled(safe) });
    };
    while (rest !== "") {
      const at = inline.code
        ? rest.indexOf("`")
        : rest.search(/`|\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])/);
      if (at < 0) {
        put(rest);
        break;
      }
      put(rest.slice(0, at));
      const mark = rest.startsWith("**", at) && !inline.code ? "**" : rest.charAt(at);
      if (mark === "`") inline.code = !inline.code;
      else if (mark === "**") inline.bold = !inline.bold;
      else inline.italic = !inline.italic;
      rest = rest.slice(at + mark.length);
    }
    const columns = parts.reduce((sum, { text }) => sum + columnsOf(text), 0);
    if (columns === 0) return "";
    let out = "";
    const room = Math.max(8, width);
    if (column > indent && column + columnsOf(gap) + columns > room) out += wrap();
    else {
      out += gap;
      column += columnsOf(gap);
    }
    gap = "";
    if (column + columns <= room) {
      column += columns;
      return out + parts.map(({ shown }) => shown).join("");
    }
    // A word longer than a row, such as an address.
    const pieces = hardWrap(parts.map(({ text }) => text).join(""), room - indent);
    column = indent + columnsOf(pieces.at(-1) ?? "");
    return out + pieces.map(styled).join(`\n${hanging}`);
  };

  const wrap = (): string => {
    column = indent;
    return `\n${hanging}`;
  };

  /** Renders the words of `text`; the last one only where `whole` says that it is complete. */
  const words = (text: string, whole: boolean): string => {
    let out = "";
    let rest = text;
    for (;;) {
      const match = /^([ \t]*)([^ \t]+)/.exec(rest);
      if (match === null) break;
      const [all, spaces = "", one = ""] = match;
      const ended = all.length < rest.length;
      if (!ended && !whole && one.length < MAX_HELD) break;
      if (spaces !== "" && column > columnsOf(hanging)) {
        gap = " ".repeat(Math.min(spaces.length, 8));
      }
      out += word(one);
      rest = rest.slice(all.length);
    }
    held = whole ? "" : rest;
    return out;
  };

  /** Begins a line that is decided now; returns its rest. */
  const begin = (text: string): { readonly out: string; readonly rest: string } => {
    inLine = true;
    heading = false;
    hanging = "";
    indent = 0;
    column = 0;
    gap = "";
    const head = HEADING.exec(text);
    if (head !== null) {
      heading = true;
      return { out: "", rest: text.slice(head[0].length) };
    }
    const quote = QUOTE.exec(text);
    if (quote !== null) {
      hanging = paint.dim("▏ ");
      indent = column = 2;
      return { out: hanging, rest: text.slice(quote[0].length) };
    }
    const item = ITEM.exec(text);
    if (item !== null) {
      const [all, spaces = "", mark = ""] = item;
      const shown = `${" ".repeat(Math.min(columnsOf(spaces.replaceAll("\t", "    ")), 24))}${
        /\d/.test(mark) ? mark : "•"
      } `;
      indent = column = columnsOf(shown);
      hanging = " ".repeat(indent);
      return { out: shown, rest: text.slice(all.length) };
    }
    return { out: "", rest: text.trimStart() };
  };

  /** Renders a complete line. */
  const line = (text: string): string => {
    if (fence !== undefined) return codeLine(text);
    if (!inLine) {
      const opened = FENCE.exec(text);
      if (opened !== null) {
        fence = { mark: opened[1] ?? "```", language: opened[2] ?? "", lines: [] };
        return "";
      }
      if (RULE.test(text)) return `${paint.dim("─".repeat(Math.min(width, 40)))}\n`;
      if (text.startsWith("|")) return `${hardWrap(displayText(text), width).join("\n")}\n`;
    }
    const { out, rest } = inLine ? { out: "", rest: text } : begin(text);
    const shown = out + words(rest, true);
    inLine = false;
    // Emphasis ends with its line, so that an unclosed mark does not style the rest of the answer.
    Object.assign(inline, { bold: false, italic: false, code: false });
    return `${shown}\n`;
  };

  const codeLine = (text: string): string => {
    if (fence === undefined) return "";
    const { mark, language, lines } = fence;
    const closing = text.trim();
    if (closing.startsWith(mark) && /^(.)\1*$/.test(closing)) {
      fence = undefined;
      return "";
    }
    const coloured = highlight !== undefined && language !== "";
    const shown = coloured ? highlight(text, language, lines) : paint.cyan(displayText(text));
    lines.push(text);
    if (lines.length > MAX_CODE_LINES) lines.shift();
    return `  ${shown}\n`;
  };

  const view: AnswerView = {
    push(piece: string): string {
      let out = "";
      const pieces = (held + piece).replaceAll("\r\n", "\n").split("\n");
      held = "";
      const last = pieces.pop() ?? "";
      for (const each of pieces) out += line(each);
      if (last === "") return out;
      // Code, tables and undecided lines are shown only when complete.
      const waits = fence !== undefined || (!inLine && UNDECIDED.test(last));
      if (waits && last.length < MAX_HELD) {
        held = last;
        return out;
      }
      if (fence !== undefined) {
        held = "";
        return out + codeLine(last);
      }
      const { out: shown, rest } = inLine ? { out: "", rest: last } : begin(last);
      return out + shown + words(rest, false);
    },
    end(): string {
      const rest = held;
      held = "";
      const out = inLine || rest !== "" ? line(rest) : "";
      fence = undefined;
      return out;
    },
  };
  return Object.freeze(view);
}
