/** Scalars of flat YAML, so far as front matter needs them. @module */

/** What moves a cursor, hides, reorders, or ends a line for some reader of YAML. */
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

/** `text` in double quotes, as YAML and JSON both read it: nothing in it ends the value or the line. */
export function quoted(text: string): string {
  const inner = text.replace(UNSAFE, (sign) => {
    if (sign === '"' || sign === "\\") return `\\${sign}`;
    const hex = (sign.codePointAt(0) ?? 0).toString(16);
    return hex.length > 4 ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
  });
  return `"${inner}"`;
}

/** Reads one scalar that stands alone on the rest of a line; undefined when it is none that is understood. */
export function scalar(text: string): string | undefined {
  const value = text.trim();
  if (value.startsWith('"')) return ended(doubleQuoted(value, 0), value);
  if (value.startsWith("'")) return ended(singleQuoted(value, 0), value);
  if (/^[&*!|>%@`{[]/.test(value)) return undefined;
  const comment = value.search(/(?:^|\s)#/);
  return (comment < 0 ? value : value.slice(0, comment)).trim();
}

/** Reads `[a, "b", 'c']`; undefined when it is no such list, or is nested. */
export function flowList(text: string): readonly string[] | undefined {
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
