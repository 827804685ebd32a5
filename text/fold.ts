/**
 * Text folded for comparison: lower-case ASCII letters and digits, look-alikes replaced by the letters that they look
 * like, invisible characters left out. One pass; no Unicode normalization, which takes quadratic time on a run of
 * combining marks.
 * @module
 */

/** A folded text, and how much the fold left out. */
export interface FoldedText {
  /** At most as long as the original: `a` to `z`, `0` to `9`, ASCII punctuation; `?` for all others. */
  readonly text: string;
  /** Invisible characters that no language commonly uses. */
  readonly hidden: number;
}

/** Letters of other alphabets that pass for ASCII ones. */
const ALIKE: ReadonlyMap<number, number> = new Map(
  [..."аaеeоoрpсcхxуyіiјjѕsԁdһhӏlԛqԝwαaοoρpνvιiκkτtєeАaВbЕeКkМmНhОoРpСcТtХxІiЅsѴv"]
    .map((letter) => letter.charCodeAt(0))
    .reduce<[number, number][]>((pairs, code, n, all) => {
      const letter = all[n + 1];
      if (n % 2 === 0 && letter !== undefined) pairs.push([code, letter]);
      return pairs;
    }, []),
);

/** Folds `text` in linear time. */
export function foldText(text: string): FoldedText {
  const codes = new Uint8Array(text.length);
  let length = 0, hidden = 0;
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n);
    if (code < 0x80) {
      codes[length++] = code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
      continue;
    }
    if (isInvisible(code)) {
      if (isHidden(text, n, code)) hidden += 1;
      continue;
    }
    // Tags and supplementary variation selectors, all invisible.
    if (code === 0xdb40) {
      hidden += 1;
      n += 1;
      continue;
    }
    codes[length++] = folded(code);
  }
  return { text: new TextDecoder().decode(codes.subarray(0, length)), hidden };
}

function folded(code: number): number {
  if (code >= 0xff01 && code <= 0xff5e) {
    const ascii = code - 0xfee0;
    return ascii >= 0x41 && ascii <= 0x5a ? ascii + 0x20 : ascii;
  }
  if (code === 0xa0 || (code >= 0x2000 && code <= 0x200a) || code === 0x3000) return 0x20;
  if (code === 0x2028 || code === 0x2029) return 0x0a;
  if (code === 0x2018 || code === 0x2019 || code === 0x2bc) return 0x27;
  return ALIKE.get(code) ?? 0x3f;
}

/** Format characters, combining marks, variation selectors. */
function isInvisible(code: number): boolean {
  return code === 0xad || (code >= 0x300 && code <= 0x36f) || code === 0x61c || code === 0x180e ||
    (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) || (code >= 0xfe00 && code <= 0xfe0f) || code === 0xfeff;
}

/** Soft hyphens, marks, joiners within a script and emoji, and U+FEFF at the start are common, so not hidden. */
function isHidden(text: string, at: number, code: number): boolean {
  if (code === 0x200c || code === 0x200d) return isAscii(text, at - 1) && isAscii(text, at + 1);
  if (code === 0xfeff) return at > 0 && text.charCodeAt(at - 1) > 0x20;
  return code === 0x180e || code === 0x200b || (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f);
}

function isAscii(text: string, at: number): boolean {
  return text.charCodeAt(at) < 0x80;
}
