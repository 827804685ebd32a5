// JSON's escapes, and code points as UTF-8.

/** The character of a letter behind a backslash; -1 for none, and for the `u` of a code point. */
export function meantBy(letter: i32): i32 {
  if (letter == 0x22 || letter == 0x5c || letter == 0x2f) return letter;
  if (letter == 0x6e) return 0x0a;
  if (letter == 0x74) return 0x09;
  if (letter == 0x72) return 0x0d;
  if (letter == 0x62) return 0x08;
  return letter == 0x66 ? 0x0c : -1;
}

/** The value of a hexadecimal digit; -1 for anything else. */
export function hexDigit(byte: i32): i32 {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function unitAt(bytes: Uint8Array, at: i32): i32 {
  let unit = 0;
  for (let i = 0; i < 4; i++) unit = (unit << 4) | hexDigit(bytes[at + i]);
  return unit;
}

/** The position of the next backslash from `at` on; `end` for none. */
function backslash(at: usize, end: usize): usize {
  const wanted = i8x16.splat(0x5c);
  for (; at + 16 <= end; at += 16) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(at), wanted));
    if (mask != 0) return at + ctz(mask);
  }
  while (at < end && load<u8>(at) != 0x5c) at++;
  return at;
}

/** Unescapes text; the result is never longer. Half of a surrogate pair becomes U+FFFD. */
export function unescaped(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length);
  const start = bytes.dataStart;
  let used = 0;
  for (let at = 0; at < bytes.length; at++) {
    const plain = <i32> (backslash(start + at, start + bytes.length) - start) - at;
    memory.copy(out.dataStart + used, start + at, plain);
    used += plain;
    at += plain;
    if (at == bytes.length) break;
    const letter = bytes[++at];
    if (letter != 0x75) {
      out[used++] = <u8> meantBy(letter);
      continue;
    }
    let point = unitAt(bytes, at + 1);
    at += 4;
    if (point >= 0xd800 && point < 0xe000) {
      const paired = point < 0xdc00 && at + 6 < bytes.length && bytes[at + 1] == 0x5c &&
        bytes[at + 2] == 0x75;
      const low = paired ? unitAt(bytes, at + 3) : 0;
      if (low >= 0xdc00 && low < 0xe000) {
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
      } else point = 0xfffd;
    }
    used += encodePoint(out.dataStart + used, point);
  }
  return out.subarray(0, used);
}

/** Writes a code point as UTF-8 and returns the number of bytes, at most four. */
export function encodePoint(at: usize, point: i32): i32 {
  if (point < 0x80) {
    store<u8>(at, <u8> point);
    return 1;
  }
  const size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  for (let i = size - 1; i > 0; i--) {
    store<u8>(at + i, <u8> (0x80 | (point & 0x3f)));
    point >>= 6;
  }
  store<u8>(at, <u8> ((0xf00 >> size & 0xff) | point));
  return size;
}
