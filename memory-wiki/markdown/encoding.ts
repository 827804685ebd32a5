/** Detects the encoding of a document's bytes: UTF-8, UTF-16, a legacy encoding, or binary. Used by ingest and parse. @module */

const MAX_EXAMINED = 65_536;
/** Maximum percentage of control characters in a text. */
const MAX_CONTROLS = 5;

/** What bytes are, before any legacy encoding is guessed. */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "binary";

/** Whether text in this encoding has few invalid characters: a byte-order mark may be a coincidence. */
function isWide(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be"): boolean {
  const text = new TextDecoder(encoding).decode(bytes.subarray(0, MAX_EXAMINED));
  const none = text.match(/[^\P{C}\p{Cf}\t\n\v\f\r]|\ufffd/gu)?.length ?? 0;
  return none * 100 <= text.length * MAX_CONTROLS;
}

/**
 * UTF-16 without a byte-order mark: ASCII has its NULs at odd (little-endian) or at even (big-endian) places only.
 */
function unmarked(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const head = bytes.subarray(0, MAX_EXAMINED);
  const zeros = [0, 0];
  for (const [at, byte] of head.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (even + odd === 0 || (even > 0 && odd > 0) || head.length < 4) return undefined;
  const encoding = odd > 0 ? "utf-16le" : "utf-16be";
  const text = new TextDecoder(encoding).decode(head.subarray(0, head.length & ~1));
  const telling = text.match(/[\p{L}\p{N}\p{P}\s]/gu)?.length ?? 0;
  return isWide(head, encoding) && telling * 100 >= text.length * 90 ? encoding : undefined;
}

/** Detects the encoding. Invalid UTF-8 is text; bytes with NUL that are not UTF-16 are binary. */
export function encodingOf(bytes: Uint8Array): Encoding {
  const [first, second] = bytes;
  const wide = first === 0xff && second === 0xfe && !(bytes[2] === 0 && bytes[3] === 0)
    ? "utf-16le"
    : first === 0xfe && second === 0xff
    ? "utf-16be"
    : undefined;
  if (wide !== undefined) return isWide(bytes, wide) ? wide : "binary";
  if (bytes.includes(0)) return unmarked(bytes) ?? "binary";
  const head = bytes.subarray(0, MAX_EXAMINED);
  let controls = 0;
  for (const byte of head) if (byte < 32 && (byte < 8 || byte > 13) && byte !== 27) controls += 1;
  return controls * 100 > head.length * MAX_CONTROLS ? "binary" : "utf-8";
}

/** UTF-16 bytes converted to UTF-8, for `NewSource.text`. Undefined for other encodings and binary. */
export function textFormOf(bytes: Uint8Array): Uint8Array | undefined {
  const encoding = encodingOf(bytes);
  if (encoding !== "utf-16le" && encoding !== "utf-16be") return undefined;
  const text = new TextDecoder(encoding).decode(bytes).replaceAll("\0", "\ufffd");
  return new TextEncoder().encode(text);
}

/** How bytes of unknown encoding are read. */
export type OldText =
  | { readonly kind: "utf-8" }
  /** `sure`: the character statistics are clear; otherwise a guess. */
  | {
    readonly kind: "page";
    readonly text: string;
    readonly encoding: string;
    readonly sure: boolean;
  }
  /** No guess is good enough. */
  | { readonly kind: "unknown" };

/** Decodes text that is not UTF-8, by the legacy encoding that its characters suggest. */
export function oldTextOf(bytes: Uint8Array): OldText {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { kind: "utf-8" };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  let [wrong, right] = [0, 0];
  const lenient = new TextDecoder().decode(bytes);
  for (let at = 0; at < lenient.length; at += 1) {
    const unit = lenient.charCodeAt(at);
    if (unit === 0xfffd) wrong += 1;
    else if (unit > 0x7f) right += 1;
  }
  // Valid multi-byte sequences are no coincidence: this is UTF-8 with errors.
  if (right > 4 * wrong) return { kind: "utf-8" };
  const page = codePageOf(bytes);
  if (page === undefined) return { kind: "unknown" };
  return { kind: "page", text: new TextDecoder(page.encoding).decode(bytes), ...page };
}

// Guesses a legacy encoding from how characters combine, since such a file does not state it.

interface CodePage {
  /** A WHATWG name. */
  readonly encoding: string;
  /** Whether the character statistics are clear; otherwise the default. */
  readonly sure: boolean;
}

/** Bytes examined. */
const MAX_GUESS_BYTES = 65_536;
/** Percentage of the possible points that makes a guess sure. */
const SURE_PERCENT = 55;
/** Maximum percentage of bytes beyond ASCII in a text that is decoded by default. */
const MAX_BEYOND = 10;

/** Single-byte encodings with the frequent letters of their languages. On a tie the first wins. */
const PAGES: Readonly<Record<string, { readonly script: RegExp; readonly frequent: string }>> = {
  "windows-1252": { script: /\p{Script=Latin}/u, frequent: "éèêëàâäáãçñíîïóôöõúùûüßåæøÉÄÖÜÅØ" },
  "windows-1250": {
    script: /\p{Script=Latin}/u,
    frequent: "áčďéěíňóřšťúůýžąćęłńśźżőűöüäăâîşţđŁŚŻČŘŠŽ",
  },
  "windows-1254": { script: /\p{Script=Latin}/u, frequent: "ğışöüçâİŞĞÖÜÇ" },
  "windows-1251": { script: /\p{Script=Cyrillic}/u, frequent: "оеаинтсрвлкмдпуяыь" },
  "koi8-r": { script: /\p{Script=Cyrillic}/u, frequent: "оеаинтсрвлкмдпуяыь" },
  "koi8-u": { script: /\p{Script=Cyrillic}/u, frequent: "оеаинтсрвлкмдпуяиіїь" },
  "ibm866": { script: /\p{Script=Cyrillic}/u, frequent: "оеаинтсрвлкмдпуяыь" },
  "iso-8859-5": { script: /\p{Script=Cyrillic}/u, frequent: "оеаинтсрвлкмдпуяыь" },
  "windows-1253": { script: /\p{Script=Greek}/u, frequent: "αοιετσνηυρπκμλςάόίέή" },
  "windows-1255": { script: /\p{Script=Hebrew}/u, frequent: "יוהלאמרשתבנ" },
  "windows-1256": { script: /\p{Script=Arabic}/u, frequent: "اليمونرتبةعدسفه" },
};
/** Multi-byte encodings: frequent characters of their texts, and their minimum percentage. */
const WIDE: Readonly<Record<string, readonly [frequent: RegExp, ofHundred: number]>> = {
  "shift_jis": [/[\u3041-\u30fa]/g, 20],
  "euc-jp": [/[\u3041-\u30fa]/g, 20],
  "euc-kr": [/\p{Script=Hangul}/gu, 80],
  "gb18030": [
    /[的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长]/gu,
    10,
  ],
  "big5": [
    /[的一是不了在人有我他這中大來上個國到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可她里後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同三已老從動兩長]/gu,
    10,
  ],
};
/** Characters between words in any language. */
const BETWEEN = /[\s\p{P}\u00a0°©®№§«»±×€£¢]/u;

/** Guesses the encoding of bytes that are not UTF-8; undefined if no guess is good enough. */
function codePageOf(bytes: Uint8Array): CodePage | undefined {
  const head = bytes.subarray(0, MAX_GUESS_BYTES);
  const beyond = head.reduce((sum, byte) => sum + (byte > 127 ? 1 : 0), 0);
  for (const [encoding, [frequent, ofHundred]] of Object.entries(WIDE)) {
    const text = strictly(encoding, head);
    const characters = text?.match(/[^\p{ASCII}]/gu)?.length ?? 0;
    const found = text?.match(frequent)?.length ?? 0;
    // One or two characters may match anything.
    if (characters >= 4 && found * 100 >= ofHundred * characters) return { encoding, sure: true };
  }
  let best: { readonly encoding: string; readonly points: number } | undefined;
  for (const [encoding, page] of Object.entries(PAGES)) {
    const points = pointsOf(new TextDecoder(encoding).decode(head), page);
    if (best === undefined || points > best.points + 1e-9) best = { encoding, points };
  }
  if (best !== undefined && best.points * 100 >= beyond * SURE_PERCENT) {
    return { encoding: best.encoding, sure: true };
  }
  return beyond * 100 <= head.length * MAX_BEYOND
    ? { encoding: "windows-1252", sure: false }
    : undefined;
}

/** The decoded text; undefined for invalid bytes. */
function strictly(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    // The last character may be cut.
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** One point per character beyond ASCII that is plausible in a language, less for rare ones. */
function pointsOf(
  text: string,
  { script, frequent }: { readonly script: RegExp; readonly frequent: string },
): number {
  const known = new Set(frequent);
  const latin = script.test("a");
  let points = 0;
  for (const word of text.split(/[\s\p{P}\p{N}]+/u)) {
    if (!/[^\p{ASCII}]/u.test(word)) continue;
    const letters = [...word];
    const beyond = letters.filter((one) => one > "\u007f");
    const own = beyond.filter((one) => script.test(one)).length;
    // Implausible words: other scripts mixed in, mostly accented letters, or capitals inside.
    const mixed = !latin && letters.some((one) => /[A-Za-z]/.test(one));
    const crowded = latin && letters.length > 3 && beyond.length > letters.length * 0.6;
    const humped = /\p{Ll}\p{Lu}/u.test(word);
    const strange = beyond.some((one) => !script.test(one) && !BETWEEN.test(one));
    if (mixed || crowded || humped || strange) {
      points -= beyond.length / 2;
      continue;
    }
    const often = beyond.filter((one) => known.has(one)).length;
    const capital = beyond.filter((one) => !known.has(one) && known.has(one.toLowerCase())).length;
    points += often + 0.8 * capital + 0.3 * (own - often - capital);
  }
  // Symbols between words count in any encoding that decodes them as symbols.
  return points +
    (text.match(/[^\p{ASCII}\p{L}\p{C}]/gu)?.filter((one) => BETWEEN.test(one)).length ?? 0);
}
