/**
 * Shapes in a text that a person should look at twice: marks of conversations, encoded blocks, keys,
 * addresses that carry data. Each takes time in proportion to the text.
 * @module
 */

/** Marks by which models' own formats begin a message or a call; small letters. */
const MARKS: readonly string[] = [
  "<|im_start|>",
  "<|im_end|>",
  "<|system|>",
  "<|user|>",
  "<|assistant|>",
  "<|endoftext|>",
  "<|eot_id|>",
  "<|start_header_id|>",
  "[inst]",
  "[/inst]",
  "<<sys>>",
  "<start_of_turn>",
  "<system>",
  "</system>",
  "<tool_call>",
  "<tool_response>",
  "<function_calls>",
  "### instruction:",
  "### system:",
  "\n\nhuman: ",
  "\n\nassistant: ",
];

/** Tells whether a folded text holds a mark of a conversation. */
export function hasMarks(text: string): boolean {
  return MARKS.some((mark) => text.includes(mark));
}

/** Characters of an encoded block at which it is worth a word. */
const BLOCK = 200;

/** Tells whether a text holds a long run of base64: small and large letters and digits without a gap. */
export function hasBlock(text: string): boolean {
  for (let from = start(text, 0, BASE64), to; from < text.length; from = start(text, to, BASE64)) {
    to = stop(text, from, BASE64);
    if (to - from >= BLOCK && kinds(text, from, Math.min(to, from + 4 * BLOCK)) === 7) return true;
  }
  return false;
}

/** Beginnings of keys, with the fewest characters that follow. */
const KEYS: readonly (readonly [prefix: string, rest: number])[] = [
  ["sk-", 20],
  ["sk_live_", 16],
  ["rk_live_", 16],
  ["AKIA", 16],
  ["ASIA", 16],
  ["ghp_", 30],
  ["gho_", 30],
  ["ghs_", 30],
  ["ghu_", 30],
  ["github_pat_", 40],
  ["glpat-", 20],
  ["xoxb-", 10],
  ["xoxp-", 10],
  ["AIza", 35],
  ["npm_", 36],
  ["hf_", 30],
];
/** Names before a value that should not be seen. */
const NAMES: ReadonlySet<string> = new Set([
  "password",
  "passwd",
  "pwd",
  "secret",
  "token",
  "api_key",
  "apikey",
  "api-key",
  "access_key",
  "access_token",
  "client_secret",
]);
const SHORTEST_KEY = 15, LONGEST_NAME = 13;
/** Fewest characters of a value that is taken for a secret, most between its name and it. */
const VALUE = 12, NEAR = 6;

/** Tells whether a text holds what looks like a key. */
export function hasKey(text: string): boolean {
  if (text.includes("PRIVATE KEY-----")) return true;
  let named = -1;
  for (let from = start(text, 0, TOKEN), to; from < text.length; from = start(text, to, TOKEN)) {
    to = stop(text, from, TOKEN);
    const length = to - from;
    if (length >= SHORTEST_KEY && isKey(text, from, length)) return true;
    if (length > 40 && text.startsWith("eyJ", from) && isDotted(text, from, to)) return true;
    if (named >= 0 && from - named <= NEAR && length >= VALUE && isAssigned(text, named, from)) {
      const have = kinds(text, from, Math.min(to, from + 256));
      if ((have & 4) !== 0 && (have & 3) !== 0) return true;
    }
    named = length <= LONGEST_NAME && NAMES.has(text.slice(from, to).toLowerCase()) ? to : -1;
  }
  return false;
}

/** Characters of a query or fragment of an address that are more than a search. */
const QUERY = 80, PART = 48, ADDRESS = 8_192;

/** Tells what of the addresses in a text carries data: their query, or the rest of them. */
export function dataInAddresses(
  text: string,
): { readonly query: boolean; readonly elsewhere: boolean } {
  let query = false, elsewhere = false;
  for (let n = text.indexOf("://"); n >= 0; n = text.indexOf("://", n)) {
    n += 3;
    const from = n;
    n = stop(text, from, URL);
    const address = text.slice(from, Math.min(n, from + ADDRESS));
    const mark = address.indexOf("?");
    if (mark >= 0 && address.length - mark > QUERY) query = true;
    const before = mark < 0 ? address : address.slice(0, mark);
    if (before.split(/[/.@-]/).some((part) => part.length >= PART)) elsewhere = true;
  }
  return { query, elsewhere };
}

/** The first character from `from` on that is of a class, or the text's end. */
function start(text: string, from: number, of: number): number {
  let n = from;
  while (n < text.length && ((CLASS[text.charCodeAt(n)] ?? 0) & of) === 0) n += 1;
  return n;
}

/** The first character from `from` on that is of no such class, or the text's end. */
function stop(text: string, from: number, of: number): number {
  let n = from;
  while (n < text.length && ((CLASS[text.charCodeAt(n)] ?? 0) & of) !== 0) n += 1;
  return n;
}

/** 1 for small letters, 2 for large ones, 4 for digits, in sum. */
function kinds(text: string, from: number, to: number): number {
  let found = 0;
  for (let n = from; n < to && found !== 7; n++) {
    found |= (CLASS[text.charCodeAt(n)] ?? 0) & 7;
  }
  return found;
}

function isKey(text: string, from: number, length: number): boolean {
  return KEYS.some(([prefix, rest]) =>
    length >= prefix.length + rest && text.startsWith(prefix, from)
  );
}

function isDotted(text: string, from: number, to: number): boolean {
  const first = text.indexOf(".", from);
  const second = first < 0 || first >= to ? -1 : text.indexOf(".", first + 1);
  return second > 0 && second < to;
}

function isAssigned(text: string, from: number, to: number): boolean {
  const between = text.slice(from, to);
  return between.includes(":") || between.includes("=");
}

/** Small letters, large ones, digits; of base64, of tokens, of addresses. */
const SMALL = 1, LARGE = 2, DIGIT = 4, BASE64 = 8, TOKEN = 16, URL = 32;
const CLASS: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code);
  const plain = /[a-z]/.test(sign)
    ? SMALL
    : /[A-Z]/.test(sign)
    ? LARGE
    : /\d/.test(sign)
    ? DIGIT
    : 0;
  return plain | (plain !== 0 || "+/-_".includes(sign) ? BASE64 : 0) |
    (plain !== 0 || "-._".includes(sign) ? TOKEN : 0) |
    (code > 0x20 && code < 0x7f && !"\"'<>\\`".includes(sign) ? URL : 0);
});
