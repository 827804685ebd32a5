/** Splits claims into words, numbers and dates. @module */

/** A token of a claim. `text` is in lower case. */
export type Token =
  | {
    readonly kind: "word";
    readonly text: string;
    readonly capital: boolean;
    readonly code: boolean;
  }
  | {
    readonly kind: "number";
    readonly text: string;
    readonly value: number;
    readonly digits: number;
    readonly suffix: string;
  }
  | { readonly kind: "date"; readonly text: string }
  | { readonly kind: "mark"; readonly text: string };

/** Characters of a claim that are parsed. */
const MAX_CLAIM = 600;

/** Removes Markdown syntax. */
function plainText(markdown: string): string {
  return markdown.slice(0, MAX_CLAIM * 2)
    .replaceAll(/\[\^[^\]\s]{1,64}\]/gu, "")
    .replaceAll(/\[\[(?:[^\]|]{0,256}\|)?([^\]|]{0,256})\]\]/gu, "$1")
    .replaceAll(/!?\[([^\]]{0,512})\]\([^)\s]{0,1024}\)/gu, "$1")
    .replaceAll(/(?<![\p{L}\p{N}])[*_]{1,3}|[*_]{1,3}(?![\p{L}\p{N}])|~~/gu, "")
    .slice(0, MAX_CLAIM);
}

const DATE =
  /\d{4}-\d{2}(?:-\d{2})?(?![\d-])|(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?:19|20)\d{2}(?!\d|\.\d)|\d{1,2}:\d{2}(?::\d{2})?(?!\d)/y;
const DOTTED = /v?\d+(?:\.\d+){2,}\S*/y;
const NUMBER =
  /([$€£¥])?(\d{1,3}(?:[,\u202f\u00a0 ']\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?)(%|°C|[\p{L}×][\p{L}\p{N}-]*)?/yu;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/yu;
const WORD = /[\p{L}\p{M}][\p{L}\p{M}\p{N}]*(?:[-_.'’/+#][\p{L}\p{M}\p{N}]+)*[+#]*/yu;
const ASCII_WORD = /[A-Za-z][A-Za-z0-9]*(?:[-_.'/+#][A-Za-z0-9]+)*[+#]*(?![^\0-\x7f])/y;
const MARKS: ReadonlySet<string> = new Set(":=<>≤≥~≈%,;–()-");
const MARKED = /[`*_~[\]]/;
const NOT_ASCII = /[^\0-\x7f]/;

function taken(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Splits a claim. Linear time. */
export function tokensOf(claim: string): readonly Token[] {
  const plain = MARKED.test(claim) ? plainText(claim) : claim.slice(0, MAX_CLAIM);
  const text = NOT_ASCII.test(plain) ? plain.normalize("NFKC") : plain;
  const tokens: Token[] = [];
  let code = false;
  for (let at = 0; at < text.length;) {
    const sign = text.charAt(at);
    if (sign === " " || sign === ".") at += 1;
    else if (sign === "`") {
      code = !code;
      at += 1;
    } else if (MARKS.has(sign)) {
      tokens.push({ kind: "mark", text: sign });
      at += 1;
    } else at += pushToken(tokens, { text, at, code });
  }
  return tokens;
}

/** Reads the word, number or date at a place and returns its length; 1 for none. */
function pushToken(
  tokens: Token[],
  { text, at, code }: { readonly text: string; readonly at: number; readonly code: boolean },
): number {
  const ascii = taken(ASCII_WORD, text, at);
  if (ascii !== null && !/^v\d/.test(ascii[0])) return pushWord(tokens, ascii[0], code);
  const date = taken(DATE, text, at);
  if (date !== null) {
    tokens.push({ kind: "date", text: isoOf(date[0]) });
    return date[0].length;
  }
  const dotted = taken(DOTTED, text, at);
  if (dotted !== null) {
    tokens.push(word(dotted[0], true));
    return dotted[0].length;
  }
  const number = taken(NUMBER, text, at);
  if (number !== null) {
    const [whole, currency, digits = "", suffix = ""] = number;
    const plain = digits.replaceAll(/[,\u202f\u00a0 ']/gu, "");
    // 三十秒 has no spaces: only the first character is the unit.
    const unit = /^\p{Script=Han}/u.test(suffix)
      ? /^(?:小时|分钟|毫秒|公里|公斤|.)/u.exec(suffix)?.[0] ?? suffix
      : suffix;
    tokens.push({
      kind: "number",
      text: `${digits}${unit}`.toLowerCase(),
      value: Number(plain),
      digits: plain.split(".")[1]?.length ?? 0,
      suffix: (currency ?? unit).toLowerCase(),
    });
    return whole.length - suffix.length + unit.length;
  }
  const cjk = taken(CJK, text, at);
  if (cjk !== null) {
    tokens.push(word(cjk[0], false));
    return cjk[0].length;
  }
  const found = taken(WORD, text, at);
  return found === null ? 1 : pushWord(tokens, found[0], code);
}

function pushWord(tokens: Token[], text: string, code: boolean): number {
  // Drops the possessive `'s`; splits hyphenated words.
  const whole = /['’]s$/.test(text) ? text.slice(0, -2) : text;
  if (!whole.includes("-") || /\p{N}/u.test(whole)) tokens.push(word(whole, code));
  else for (const part of whole.split("-")) tokens.push(word(part, code));
  return text.length;
}

function word(text: string, code: boolean): Token {
  const lower = text.toLowerCase();
  return {
    kind: "word",
    text: lower.includes("’") ? lower.replaceAll("’", "'") : lower,
    capital: lower !== text,
    code,
  };
}

/** Converts `5.3.2026` to `2026-03-05`. */
function isoOf(date: string): string {
  const [day = "", month = "", year] = date.split(".");
  return year === undefined ? date : `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}
