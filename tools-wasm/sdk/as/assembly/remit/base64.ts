// Base64 to bytes: files come from the host as base64, whatever they contain.

const VALUES = new StaticArray<u8>(256);
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
for (let i = 0; i < 64; i++) VALUES[ALPHABET.charCodeAt(i)] = <u8> i;

/** Decodes padded `text` to `to`, which has room, and returns the number of bytes. */
export function decodeBase64(text: Uint8Array, to: usize): i32 {
  const bytes = text.length;
  if (bytes == 0) return 0;
  const values = changetype<usize>(VALUES);
  let from = text.dataStart;
  const end = from + bytes;
  const start = to;
  // Sixteen characters become twelve bytes; the store also writes four more, which later groups
  // overwrite.
  for (; from + 24 <= end; from += 16) {
    v128.store(to, twelve(v128.load(from)));
    to += 12;
  }
  for (; from < end; from += 4) {
    const four = load<u32>(from);
    const bits = (<u32> load<u8>(values + (four & 0xff)) << 18) |
      (<u32> load<u8>(values + (four >> 8 & 0xff)) << 12) |
      (<u32> load<u8>(values + (four >> 16 & 0xff)) << 6) |
      load<u8>(values + (four >> 24));
    // The last group may have fewer bytes: never writes past them.
    store<u8>(to, <u8> (bits >> 16));
    if (from + 4 < end || load<u8>(end - 2) != 0x3d) store<u8>(to, <u8> (bits >> 8), 1);
    if (from + 4 < end || load<u8>(end - 1) != 0x3d) store<u8>(to, <u8> bits, 2);
    to += 3;
  }
  const padding = load<u8>(end - 2) == 0x3d ? 2 : load<u8>(end - 1) == 0x3d ? 1 : 0;
  return <i32> (to - start) - padding;
}

/** Twelve bytes and four zeros of sixteen characters, whose offsets depend on upper half and `/`. */
function twelve(letters: v128): v128 {
  const upper = v128.and(i8x16.shr_u(letters, 4), i8x16.splat(0x0f));
  const kind = v128.add<u8>(i8x16.eq(letters, i8x16.splat(0x2f)), upper);
  const shift = i8x16.swizzle(
    i8x16(0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0),
    kind,
  );
  const six = i8x16.add(letters, shift);
  const bits = v128.or(
    v128.or(
      i32x4.shl(v128.and(six, i32x4.splat(0x3f)), 18),
      i32x4.shl(v128.and(six, i32x4.splat(0x3f00)), 4),
    ),
    v128.or(
      v128.and(i32x4.shr_u(six, 10), i32x4.splat(0xfc0)),
      i32x4.shr_u(six, 24),
    ),
  );
  return i8x16.swizzle(bits, i8x16(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
}
