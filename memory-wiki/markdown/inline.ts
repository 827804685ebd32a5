/** Parses inline Markdown in linear time: code, links, footnotes, emphasis. @module */

/** A piece of a block's text. */
export type Piece =
  | { readonly kind: "text" | "code"; readonly text: string }
  | { readonly kind: "note"; readonly name: string }
  | { readonly kind: "link"; readonly target: string; readonly shown: string }
  /** Hidden markup: emphasis, brackets and targets of links, tags. */
  | { readonly kind: "mark"; readonly text: string };

const NOTE = /\[\^([^\s\[\]]{1,64})\]/y;
const WIKI = /\[\[([^\[\]\n]{1,400})\]\]/y;
const TARGET = /\]\((?:<[^<>\n]{0,2000}>|[^()\s<>]{0,2000})(?:[ \t]+"[^"\n]{0,300}")?\)/y;
const TAG = /<\/?[a-zA-Z][^<>]{0,500}>/y;
const AUTOLINK = /<([a-zA-Z][a-zA-Z0-9+.-]{1,30}:[^\s<>]{0,2000})>/y;
const ENTITY = /&(amp|lt|gt|quot|apos|nbsp|#39);/y;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  "#39": "'",
};
const PLAIN = /[^\\`\[\]<&*_~!%]+/y;
/** An Obsidian comment, which is hidden; `%%d` is none. */
const COMMENT = /(?<![^\s(])%%(?!%)[^%]{1,4000}%%(?![\p{L}\p{N}%])/uy;
const PICTURE = /\.(?:png|jpe?g|gif|svg|webp|bmp|avif|mp[34]|m4a|wav|ogg|webm|mov|pdf|canvas)$/i;
const WORD = /[\p{L}\p{N}]/u;
const SIGN = /[!-\/:-@\[-`{-~]/;

/** The pieces of `text`, in order. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  const brackets: number[] = [];
  const ticks = makeTicks(text);
  /** Nesting depth of underscore emphasis. */
  let strokes = 0;
  const lastComment = text.lastIndexOf("-->");
  const say = (kind: "text" | "code" | "mark", value: string): unknown =>
    pieces.push({ kind, text: value });

  const match = (pattern: RegExp, at: number): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };

  let at = 0;
  while (at < text.length) {
    const plain = match(PLAIN, at);
    if (plain !== null) {
      say("text", plain[0]);
      at += plain[0].length;
      continue;
    }
    const [sign, next] = [text.charAt(at), text.charAt(at + 1)];
    let taken = 1;
    if (sign === "\\" && SIGN.test(next)) {
      say("text", next);
      taken = 2;
    } else if (sign === "`") {
      const span = ticks.span(at);
      taken = span.end - at;
      if (span.code === undefined) say("text", text.slice(at, span.end));
      else say("code", span.code);
    } else if (sign === "[" && next === "^" && match(NOTE, at) !== null) {
      const note = match(NOTE, at);
      pieces.push({ kind: "note", name: note?.[1] ?? "" });
      taken = note?.[0].length ?? 1;
    } else if (sign === "[" && next === "[" && match(WIKI, at) !== null) {
      const link = match(WIKI, at);
      pieces.push(linkPiece(link?.[1] ?? ""));
      taken = link?.[0].length ?? 1;
    } else if (sign === "[") {
      brackets.push(pieces.length);
      say("text", "[");
    } else if (sign === "]") {
      const target = next === "(" && brackets.length > 0 ? match(TARGET, at) : null;
      const opening = brackets.pop();
      if (target !== null && opening !== undefined) {
        pieces[opening] = { kind: "mark", text: "[" };
        say("mark", target[0]);
        taken = target[0].length;
      } else say("text", "]");
    } else if (sign === "%") {
      taken = match(COMMENT, at)?.[0].length ?? 1;
      say(taken > 1 ? "mark" : "text", text.slice(at, at + taken));
    } else if (sign === "!" && match(WIKI, at + 1) !== null) {
      const link = match(WIKI, at + 1);
      pieces.push(embedPiece(link?.[1] ?? ""));
      taken = 1 + (link?.[0].length ?? 0);
    } else if (sign === "!") {
      say(next === "[" ? "mark" : "text", "!");
    } else if (sign === "<" && text.startsWith("<!--", at) && at + 4 <= lastComment) {
      taken = text.indexOf("-->", at + 4) + 3 - at;
      say("mark", text.slice(at, at + taken));
    } else if (sign === "<") {
      const found = match(AUTOLINK, at);
      const tag = found === null ? match(TAG, at) : null;
      taken = (found ?? tag)?.[0].length ?? 1;
      if (found !== null) say("text", found[1] ?? "");
      else say(tag === null ? "text" : "mark", tag?.[0] ?? "<");
    } else if (sign === "&") {
      const entity = match(ENTITY, at);
      taken = entity?.[0].length ?? 1;
      say("text", entity === null ? "&" : ENTITIES[entity[1] ?? ""] ?? "&");
    } else {
      taken = runLength(text, at);
      // An underscore after a word closes emphasis if there is any, and is literal otherwise: `x_(1)2` is no x(1)2.
      const [before, after] = [text.charAt(at - 1), text.charAt(at + taken)];
      const lone = sign === "_" && strokes === 0 && WORD.test(before);
      const emphasis = !lone && isEmphasis(text, at, taken);
      const closes = strokes > 0 && /\S/.test(before) && !WORD.test(after);
      if (emphasis && sign === "_") strokes += closes ? -1 : 1;
      say(emphasis ? "mark" : "text", text.slice(at, at + taken));
    }
    at += taken;
  }
  return pieces;
}

/** The visible text of pieces, with the places of footnotes. Newlines are kept. */
export function plainOf(pieces: readonly Piece[]): {
  readonly text: string;
  /** As long as `text`, with digits in place of code, whose stops end no sentence. */
  readonly masked: string;
  readonly notes: readonly { readonly name: string; readonly at: number }[];
} {
  const texts: string[] = [];
  const masks: string[] = [];
  const notes: { name: string; at: number }[] = [];
  let length = 0;
  for (const piece of pieces) {
    if (piece.kind === "note") notes.push({ name: piece.name, at: length });
    const text = shownOf(piece);
    length += text.length;
    texts.push(text);
    masks.push(piece.kind === "code" ? text.replace(/[^\n]/g, "0") : text);
  }
  return { text: texts.join(""), masked: masks.join(""), notes };
}

/** The visible text on one line. */
export function plainLine(text: string): string {
  return plainOf(piecesOf(text)).text.replace(/\s+/g, " ").trim();
}

function shownOf(piece: Piece): string {
  if (piece.kind === "link") return piece.shown;
  if (piece.kind === "note") return "";
  // Newlines within a comment count as lines.
  if (piece.kind === "mark") return piece.text.replace(/[^\n]+/g, "");
  return piece.text;
}

function linkPiece(inner: string): Piece {
  const [whole = "", ...shown] = inner.split(/\\?\|/);
  const target = (whole.split("#", 1)[0] ?? "").trim();
  const text = shown.join("|").trim();
  return { kind: "link", target, shown: text === "" ? whole.trim() : text };
}

/** An embedded note is a link to it; an embedded image is its caption, if it has one beside its size. */
function embedPiece(inner: string): Piece {
  const link = linkPiece(inner);
  if (link.kind !== "link" || !PICTURE.test(link.target)) return link;
  const words = inner.split(/\\?\|/).slice(1).filter((part) => !/^\s*\d+(?:x\d+)?\s*$/.test(part));
  return words.length === 0
    ? { kind: "mark", text: `![[${inner}]]` }
    : { kind: "text", text: `[image: ${words.join(" ").trim()}]` };
}

/** Matches backtick runs of equal length. */
function makeTicks(text: string): {
  span(at: number): { readonly end: number; readonly code?: string };
} {
  let byLength: Map<number, number[]> | undefined;

  function runs(): Map<number, number[]> {
    if (byLength !== undefined) return byLength;
    byLength = new Map();
    for (let at = text.indexOf("`"); at >= 0;) {
      const length = runLength(text, at);
      byLength.getOrInsert(length, []).push(at);
      at = text.indexOf("`", at + length);
    }
    for (const starts of byLength.values()) starts.reverse();
    return byLength;
  }

  return {
    span(at): { readonly end: number; readonly code?: string } {
      const length = runLength(text, at);
      const starts = runs().get(length) ?? [];
      // Calls come from left to right, so earlier runs are not needed again.
      while (starts.length > 0 && (starts.at(-1) ?? 0) <= at) starts.pop();
      const close = starts.at(-1);
      if (close === undefined) return { end: at + length };
      const inner = text.slice(at + length, close);
      const padded = inner.startsWith(" ") && inner.endsWith(" ") && inner.trim() !== "";
      return { end: close + length, code: padded ? inner.slice(1, -1) : inner };
    },
  };
}

function runLength(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && text[end] === text[at]) end += 1;
  return end - at;
}

function isEmphasis(text: string, at: number, length: number): boolean {
  const sign = text[at];
  const [before, after] = [text.charAt(at - 1), text.charAt(at + length)];
  const open = after !== "" && !/\s/.test(after);
  const shut = before !== "" && !/\s/.test(before);
  if (!open && !shut) return false;
  if (sign === "~") return length === 2;
  if (sign === "*") return length <= 3;
  return length <= 3 && !(WORD.test(before) && WORD.test(after));
}

// Escapes untrusted text for Markdown, so that it creates no link, footnote, heading, tag or comment.

const HIDDEN = /[\p{Cf}\p{Co}\ufeff]+/gu;
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
const ADDRESS = /(?:https?:\/\/|ftp:\/\/|www\.|mailto:)[^\s`<>]{0,500}[^\s`<>.,;:!?)]/giu;
const ALWAYS = /[\\`*\[\]<$|]/g;
const BLOCK = /^(?:[-+#>=:~]|\d{1,9}[.)])/;

/**
 * `text` on one line, escaped for Markdown, Obsidian and HTML; control and format characters are removed,
 * URLs become code, so that nothing in it is a link or structure.
 */
export function escapeLine(text: string): string {
  return escapePart(text.replace(BREAKS, " ").replace(HIDDEN, "").trim(), true);
}

/**
 * Escapes a part of a line like {@link escapeLine}; `first`: the part begins the line. Keeps white space at the ends.
 */
export function escapePart(text: string, first: boolean): string {
  const line = text.toWellFormed().replace(BREAKS, " ").replace(HIDDEN, "");
  let [out, from] = ["", 0];
  for (const { 0: address, index } of line.matchAll(ADDRESS)) {
    out += escapedPart(line.slice(from, index), first && out === "") + codeSpan(address);
    from = index + address.length;
  }
  return out + escapedPart(line.slice(from), first && out === "");
}

/** `text` as inline code, or escaped if it contains a backtick. */
export function codeSpan(text: string): string {
  const line = text.toWellFormed().replace(BREAKS, " ").replace(HIDDEN, "").trim();
  return line === "" || line.includes("`") ? escapedPart(line, true) : `\`${line}\``;
}

/** `text` for the second half of `[[name|shown]]`, which has no escapes. */
export function linkShown(text: string): string {
  const line = text.toWellFormed().replace(BREAKS, " ").replace(HIDDEN, "");
  return line.replace(/[\[\]|\\`<>*$^#]+/g, " ").replace(/ +/g, " ").trim() || "page";
}

function escapedPart(part: string, first: boolean): string {
  const inline = part.replace(ALWAYS, "\\$&")
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/&(?=#|[a-z]+;)/gi, "\\&")
    .replace(/(?<=^|\s)[#^@](?=\S)/g, "\\$&")
    .replace(/([~=%])\1/g, "\\$1\\$1");
  if (!first) return inline;
  return inline.replace(BLOCK, (mark) => `${mark.slice(0, -1)}\\${mark.slice(-1)}`);
}
