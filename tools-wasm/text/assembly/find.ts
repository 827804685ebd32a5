// Searches bytes and words sixteen bytes at a time.

/** Address of the first `byte` in [at, end); `end` for none. */
export function findByte(at: usize, end: usize, byte: u8): usize {
  const wanted = i8x16.splat(<i8> byte);
  for (; at + 16 <= end; at += 16) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(at), wanted));
    if (mask != 0) return at + ctz(mask);
  }
  for (; at < end; at++) if (load<u8>(at) == byte) return at;
  return end;
}

/** Address behind the last `byte` in [from, end); `from` for none. */
export function behindLast(from: usize, end: usize, byte: u8): usize {
  while (end > from && load<u8>(end - 1) != byte) end--;
  return end;
}

/** Number of occurrences of `byte` in [at, end). */
export function countByte(at: usize, end: usize, byte: u8): i32 {
  const wanted = i8x16.splat(<i8> byte);
  let count = 0;
  for (; at + 16 <= end; at += 16) {
    count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(at), wanted)));
  }
  for (; at < end; at++) count += <i32> (load<u8>(at) == byte);
  return count;
}

/** Bytes from most to least frequent in prose and programs; all others are rarer. */
const COMMON = " etaoinsrlcdpumhfg.,()_=-\"0b:1;'/{}y[]xwvk2T*SE";

/** A search text; its ASCII letters may match either case. */
export class Needle {
  private wanted: StaticArray<u8>;
  /** Bits set in the text before comparison: 0x20 for a letter that may have either case. */
  private blurred: StaticArray<u8>;
  /** Positions of its two rarest bytes, which are searched first. */
  private rare: i32 = 0;
  private second: i32 = 0;

  constructor(bytes: Uint8Array, ignoreCase: bool) {
    this.wanted = new StaticArray<u8>(bytes.length);
    this.blurred = new StaticArray<u8>(bytes.length);
    for (let i = 0; i < bytes.length; i++) {
      const small = bytes[i] | 0x20;
      const folds = ignoreCase && small >= 0x61 && small <= 0x7a;
      this.wanted[i] = folds ? small : bytes[i];
      this.blurred[i] = folds ? 0x20 : 0;
      if (this.rank(i) > this.rank(this.rare)) this.rare = i;
    }
    this.second = this.rare == 0 ? bytes.length - 1 : 0;
    for (let i = 0; i < bytes.length; i++) {
      if (i != this.rare && this.rank(i) > this.rank(this.second)) this.second = i;
    }
  }

  get bytes(): i32 {
    return this.wanted.length;
  }

  /** Address of the first occurrence in [at, end); 0 for none. */
  find(at: usize, end: usize): usize {
    const bytes = <usize> this.bytes;
    if (at + bytes > end) return 0;
    const last = end - bytes;
    const one = <usize> this.rare;
    const two = <usize> this.second;
    const wantOne = i8x16.splat(<i8> this.wanted[<i32> one]);
    const wantTwo = i8x16.splat(<i8> this.wanted[<i32> two]);
    const blurOne = i8x16.splat(<i8> this.blurred[<i32> one]);
    const blurTwo = i8x16.splat(<i8> this.blurred[<i32> two]);
    for (; at + 15 <= last; at += 16) {
      const first = i8x16.eq(v128.or(v128.load(at + one), blurOne), wantOne);
      const other = i8x16.eq(v128.or(v128.load(at + two), blurTwo), wantTwo);
      let mask = i8x16.bitmask(v128.and(first, other));
      for (; mask != 0; mask &= mask - 1) {
        const here = at + ctz(mask);
        if (this.standsAt(here)) return here;
      }
    }
    for (; at <= last; at++) if (this.standsAt(at)) return at;
    return 0;
  }

  private standsAt(at: usize): bool {
    const bytes = this.wanted.length;
    for (let i = 0; i < bytes; i++) {
      if ((load<u8>(at + i) | unchecked(this.blurred[i])) != unchecked(this.wanted[i])) {
        return false;
      }
    }
    return true;
  }

  private rank(i: i32): i32 {
    const at = COMMON.indexOf(String.fromCharCode(this.wanted[i]));
    return at < 0 ? COMMON.length : at;
  }
}
