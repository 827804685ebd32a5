/**
 * Front matter of a page's file: flat YAML that the store writes and never trusts. Parsed without anchors,
 * tags or nesting: an unsupported value of a known key is a problem; unknown keys (of other programs) are
 * kept line by line without meaning.
 * @module
 */
import type { Page } from "../../contracts/memory/mod.ts";
import type { ReadPage } from "./page_text.ts";

/** A file split at its front matter. */
export interface SplitFile {
  /** Lines between the `---` marks; undefined for a file without front matter. */
  readonly front: readonly string[] | undefined;
  readonly body: string;
  /** Line of the file at which the body begins, from 1. */
  readonly bodyLine: number;
}

/** Characters of front matter that are parsed. */
const MAX_FRONT = 65_536;
const MAX_ALIASES = 64;
const MAX_TEXT = 256;
const TEXT_KEYS = ["kind", "title", "confidence", "label", "colour"] as const;
const KNOWN: ReadonlySet<string> = new Set([...TEXT_KEYS, "aliases", "version"]);
/** Written, but never parsed. */
const SHOWN: ReadonlySet<string> = new Set(["reviewed", "updated"]);
/** Characters kept of other programs' keys; further keys are dropped. */
const MAX_OTHERS = 8_192;

/** Splits a file; unterminated front matter is body. One blank line behind it belongs to neither. */
export function splitFile(text: string): SplitFile {
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const first = lineEnd(text, start);
  const none: SplitFile = { front: undefined, body: text.slice(start), bodyLine: 1 };
  if (!isMark(text.slice(start, Math.min(first, start + 16)))) return none;

  const lines: string[] = [];
  for (let at = first + 1, line = 2; at <= text.length; line += 1) {
    const end = lineEnd(text, at);
    const content = text.slice(at, end);
    at = end + 1;
    if (!isMark(content)) {
      lines.push(content.replace(/\r$/, ""));
      continue;
    }
    const gap = /^\r?\n/.exec(text.slice(at, at + 2))?.[0].length ?? 0;
    return { front: lines, body: text.slice(at + gap), bodyLine: line + 1 + (gap > 0 ? 1 : 0) };
  }
  return none;
}

/** Parses the lines of front matter. A file without front matter is valid. */
export function readFront(lines: readonly string[] | undefined): ReadPage["front"] {
  const problems: string[] = [];
  const texts = new Map<string, string>();
  let aliases: readonly string[] = [];
  const others: string[] = [];
  let [version, kept]: [number | undefined, number] = [undefined, 0];
  if ((lines ?? []).reduce((sum, { length }) => sum + length + 1, 0) > MAX_FRONT) {
    const why = `The front matter is longer than ${MAX_FRONT} characters.`;
    return { aliases, others: [], problems: [why] };
  }

  for (const { key, value, inner, raw } of entriesOf(lines ?? [], problems)) {
    const say = (why: string): unknown => problems.push(`The front matter's "${key}" ${why}.`);
    if (texts.has(key)) {
      say("stands twice");
      continue;
    }
    if (!KNOWN.has(key)) {
      kept += raw.reduce((sum, { length }) => sum + length + 1, 0);
      if (!SHOWN.has(key) && kept <= MAX_OTHERS) others.push(...raw);
      continue;
    }
    const text = inner.length === 0 ? scalar(value) : undefined;
    texts.set(key, text ?? "");
    if (key === "aliases") {
      const list = listOf(value, inner);
      if (list === undefined) say("is no list of texts");
      else if (list.length > MAX_ALIASES || list.some(({ length }) => length > MAX_TEXT)) {
        say("holds too much");
      } else aliases = list;
    } else if (text === undefined || text.length > MAX_TEXT) {
      texts.set(key, "");
      say("is no short text");
    } else if (key === "version") {
      if (/^[1-9]\d{0,8}$/.test(text)) version = Number(text);
      else say("is no number");
    }
  }

  const shown = TEXT_KEYS.flatMap((key) => {
    const text = texts.get(key);
    return text === undefined || text === "" ? [] : [[key, text] as const];
  });
  return {
    ...Object.fromEntries(shown),
    aliases,
    others,
    ...(version === undefined ? {} : { version }),
    problems: problems.slice(0, 32),
  };
}

/**
 * The front matter of `page`, with marks and the blank line behind. `others`: lines of other programs' keys;
 * invalid ones are dropped.
 */
function frontMatter(page: Page, others: readonly string[] = []): string {
  const { reviewed } = page;
  return [
    "---",
    `kind: ${page.kind}`,
    `title: ${quoted(page.title)}`,
    page.aliases.length === 0 ? "aliases: []" : "aliases:",
    ...page.aliases.map((alias) => `  - ${quoted(alias)}`),
    `version: ${page.version}`,
    `label: ${page.label}`,
    `colour: ${page.colour}`,
    `confidence: ${page.confidence}`,
    ...(reviewed === undefined
      ? []
      : [`reviewed: ${quoted(`${reviewed.by}, ${moment(reviewed.at)}`)}`]),
    `updated: ${moment(page.updatedAt)}`,
    // INVARIANT: no line here ends the front matter or sets a key of the store (test: "keys that mallory hides").
    ...readFront(others.filter((line) => !/[\r\n]/.test(line) && !isMark(line))).others,
    "---",
    "",
    "",
  ].join("\n");
}

interface Entry {
  readonly key: string;
  readonly value: string;
  readonly inner: readonly string[];
  /** Its lines unchanged. */
  readonly raw: readonly string[];
}

/** Top-level keys with their lines. */
function entriesOf(lines: readonly string[], problems: string[]): readonly Entry[] {
  const entries: { key: string; value: string; inner: string[]; raw: string[] }[] = [];
  for (const line of lines) {
    if (/^\s*(?:#.*)?$/.test(line)) continue;
    const found =
      /^(?:"([^"\\]{1,64})"|'([^']{1,64})'|([\p{L}\p{N}_][^:#"']{0,63}))\s*:(?:\s(.*))?$/u
        .exec(line);
    const last = entries.at(-1);
    if (found !== null) {
      const key = (found[1] ?? found[2] ?? found[3] ?? "").trim();
      entries.push({ key, value: found[4] ?? "", inner: [], raw: [line] });
    } else if (last !== undefined && /^(?:\s|-(?:\s|$))/.test(line)) {
      last.inner.push(line);
      last.raw.push(line);
    } else {
      problems.push("A line of the front matter is no `key: value`.");
    }
  }
  return entries;
}

function listOf(value: string, inner: readonly string[]): readonly string[] | undefined {
  if (inner.length === 0) {
    const list = flowList(value);
    if (list !== undefined) return list;
    const text = scalar(value);
    return text === undefined ? undefined : text === "" || text === "null" ? [] : [text];
  }
  if (scalar(value) !== "") return undefined;
  const items = inner.map((line) => {
    const item = /^\s*-(?:\s+(.*))?$/.exec(line);
    const text = item === null ? undefined : scalar(item[1] ?? "");
    return text === "" ? undefined : text;
  });
  return items.every((item) => item !== undefined) ? items : undefined;
}

function isMark(line: string): boolean {
  return /^---[ \t]*\r?$/.test(line);
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function moment(at: number): string {
  return new Date(at).toISOString();
}

// Scalars of flat YAML, as far as front matter needs them.

/** Characters that are invisible, reorder text, or end a line for some YAML parser. */
const UNSAFE = /["\\\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\ufeff\ufffe\uffff]/gu;
const NAMED: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  0: "\0",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  f: "\f",
  v: "\v",
  N: "\x85",
  _: "\xa0",
  L: "\u2028",
  P: "\u2029",
};

/** `text` in double quotes, valid in YAML and JSON: nothing in it ends the value or the line. */
function quoted(text: string): string {
  const inner = text.replace(UNSAFE, (sign) => {
    if (sign === '"' || sign === "\\") return `\\${sign}`;
    const hex = (sign.codePointAt(0) ?? 0).toString(16);
    return hex.length > 4 ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
  });
  return `"${inner}"`;
}

/** Parses a scalar on the rest of a line; undefined for unsupported syntax. */
function scalar(text: string): string | undefined {
  const value = text.trim();
  if (value.startsWith('"')) return ended(doubleQuoted(value, 0), value);
  if (value.startsWith("'")) return ended(singleQuoted(value, 0), value);
  if (/^[&*!|>%@`{[]/.test(value)) return undefined;
  const comment = value.search(/(?:^|\s)#/);
  return (comment < 0 ? value : value.slice(0, comment)).trim();
}

/** Parses `[a, "b", 'c']`; undefined for another or nested value. */
function flowList(text: string): readonly string[] | undefined {
  const value = text.trim();
  if (!value.startsWith("[")) return undefined;
  const items: string[] = [];
  let at = 1;
  for (;;) {
    at = skipSpace(value, at);
    if (value[at] === "]") return rest(value, at + 1) ? items : undefined;
    const item = flowItem(value, at);
    if (item === undefined) return undefined;
    items.push(item.text);
    at = skipSpace(value, item.end);
    if (value[at] === ",") at += 1;
    else if (value[at] !== "]") return undefined;
  }
}

type Read = { readonly text: string; readonly end: number } | undefined;

function flowItem(value: string, at: number): Read {
  if (value[at] === '"') return doubleQuoted(value, at);
  if (value[at] === "'") return singleQuoted(value, at);
  let end = at;
  while (end < value.length && !",[]{}".includes(value.charAt(end))) end += 1;
  const text = value.slice(at, end).trim();
  return text === "" || end === value.length || "[{}".includes(value.charAt(end))
    ? undefined
    : { text, end };
}

function doubleQuoted(value: string, start: number): Read {
  const pieces: string[] = [];
  let from = start + 1;
  for (let at = from; at < value.length; at += 1) {
    const sign = value[at];
    if (sign === '"') {
      pieces.push(value.slice(from, at));
      return { text: pieces.join(""), end: at + 1 };
    }
    if (sign !== "\\") continue;
    pieces.push(value.slice(from, at));
    const escape = escaped(value, at + 1);
    if (escape === undefined) return undefined;
    pieces.push(escape.text);
    at = escape.end - 1;
    from = escape.end;
  }
  return undefined;
}

function escaped(value: string, at: number): Read {
  const sign = value.charAt(at);
  const digits = { x: 2, u: 4, U: 8 }[sign];
  if (digits !== undefined) {
    const hex = value.slice(at + 1, at + 1 + digits);
    const code = /^[0-9a-f]+$/i.test(hex) && hex.length === digits ? parseInt(hex, 16) : -1;
    if (code < 0 || code > 0x10ffff) return undefined;
    return { text: String.fromCodePoint(code), end: at + 1 + digits };
  }
  const text = Object.hasOwn(NAMED, sign) ? NAMED[sign] : /^["\\/ ]$/.test(sign) ? sign : undefined;
  return text === undefined ? undefined : { text, end: at + 1 };
}

function singleQuoted(value: string, start: number): Read {
  const pieces: string[] = [];
  let from = start + 1;
  for (;;) {
    const end = value.indexOf("'", from);
    if (end < 0) return undefined;
    pieces.push(value.slice(from, end));
    if (value[end + 1] !== "'") return { text: pieces.join("'"), end: end + 1 };
    from = end + 2;
  }
}

function ended(read: Read, value: string): string | undefined {
  return read !== undefined && rest(value, read.end) ? read.text : undefined;
}

function rest(value: string, at: number): boolean {
  return /^\s*(?:\s#.*)?$/.test(value.slice(at));
}

function skipSpace(value: string, at: number): number {
  let next = at;
  while (value[next] === " " || value[next] === "\t") next += 1;
  return next;
}

/**
 * The text of `pages/NAME.md`: front matter of the stored page with `others`, the lines of other programs'
 * keys, then the body.
 */
export function writePage(page: Page, body: string, others: readonly string[] = []): string {
  return frontMatter(page, others) + body;
}
