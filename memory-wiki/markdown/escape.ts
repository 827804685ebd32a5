/** Untrusted text as Markdown that shows exactly it: no link, footnote, heading, tag or comment of its making. @module */

const HIDDEN = /[\p{Cf}\p{Co}\ufeff]+/gu;
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
const ADDRESS = /(?:https?:\/\/|ftp:\/\/|www\.|mailto:)[^\s`<>]{0,500}[^\s`<>.,;:!?)]/giu;
const ALWAYS = /[\\`*\[\]<$|]/g;
const BLOCK = /^(?:[-+#>=:~]|\d{1,9}[.)])/;

/**
 * `text` on one line, inert: marks of Markdown, Obsidian and HTML are escaped, control and format characters left
 * out, addresses shown as code, so that nothing in it can be followed or becomes structure.
 */
export function escapeLine(text: string): string {
  return escapePart(text.replace(BREAKS, " ").replace(HIDDEN, "").trim(), true);
}

/** A part of a line, inert as {@link escapeLine}; `first` when the line begins with it. White space at its ends stays. */
export function escapePart(text: string, first: boolean): string {
  const line = text.toWellFormed().replace(BREAKS, " ").replace(HIDDEN, "");
  let [out, from] = ["", 0];
  for (const { 0: address, index } of line.matchAll(ADDRESS)) {
    out += escapedPart(line.slice(from, index), first && out === "") + codeSpan(address);
    from = index + address.length;
  }
  return out + escapedPart(line.slice(from), first && out === "");
}

/** `text` as inline code, or escaped where it holds a backtick. */
export function codeSpan(text: string): string {
  const line = text.toWellFormed().replace(BREAKS, " ").replace(HIDDEN, "").trim();
  return line === "" || line.includes("`") ? escapedPart(line, true) : `\`${line}\``;
}

/** `text` for the shown half of a `[[name|shown]]`, which knows no escape. */
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
