/** The ways in which a credential may be written where a server says it back. @module */

/** A shorter one may be a placeholder (`ollama`, `not-needed`), and so a word of an answer. */
const SHORTEST = 16;
/** A short one that is no word. */
const SHORT_KEY = /^(?=.*\d)(?=.*[A-Za-z])\S{8,}$/;

/**
 * What stands for a credential's value in answers, the longest first: itself and what follows each
 * space in it (`Bearer KEY`), as they are and as JSON writes them, also within JSON of JSON; the
 * key itself also as URLs, hexadecimal digits, JSON's numbers and base64 write it.
 */
export function secretsOf(value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  const words = [value, ...wordsOf(value)].filter((each) =>
    each.length >= SHORTEST || SHORT_KEY.test(each)
  );
  // What is encoded with more around it holds the encoded key all the same.
  const key = words.at(-1);
  const forms = [
    ...words.flatMap((each) => [each, inJson(each), inJson(inJson(each))]),
    ...(key === undefined ? [] : [...byCharacter(key), ...inUrls(key), ...inBase64(key)]),
  ];
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

function wordsOf(value: string): readonly string[] {
  return [...value.matchAll(/ +/g)].map(({ 0: gap, index }) => value.slice(index + gap.length));
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Hexadecimal digits, `%` before each pair, `\u00` before each pair: in small letters and in capitals. */
function byCharacter(key: string): readonly string[] {
  const pairs = [...new TextEncoder().encode(key)].map((byte) =>
    byte.toString(16).padStart(2, "0")
  );
  return [pairs, pairs.map((pair) => pair.toUpperCase())].flatMap((each) => {
    const numbers = each.map((pair) => `\\u00${pair}`).join("");
    return [each.join(""), each.map((pair) => `%${pair}`).join(""), numbers, inJson(numbers)];
  });
}

/** As a part of a path and as a field of a form; the digits of `%` in capitals and in small letters. */
function inUrls(key: string): readonly string[] {
  return [encodeURIComponent(key), new URLSearchParams({ k: key }).toString().slice(2)]
    .flatMap((each) => [each, each.replace(/%../g, (escape) => escape.toLowerCase())]);
}

/** What is sure of its base64, whatever stands before and after it; in both alphabets. */
function inBase64(key: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = new TextEncoder().encode("\0".repeat(before) + key);
    const sure = whole.subarray(0, whole.length - whole.length % 3).toBase64()
      .slice(Math.ceil(before * 8 / 6));
    return [sure, sure.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
