/** WASI as QuickJS imports it: a clock that the prelude sets, a fixed sequence, no files. */

/** Milliseconds since 1970: 1 January 2026. */
let clock: f64 = 1767225600000;
let seed: u64 = 88172645463325252;

/** Sets the clock. */
export function setClock(ms: f64): void {
  clock = ms;
}

/** WASI: the clock that the prelude set. */
export function clock_time_get(_id: i32, _precision: i64, at: usize): i32 {
  store<u64>(at, <u64>clock * 1000000);
  return 0;
}

/** WASI: a fixed sequence instead of random bytes. */
export function random_get(at: usize, bytes: usize): i32 {
  for (let i: usize = 0; i < bytes; i++) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    store<u8>(at + i, <u8>seed);
  }
  return 0;
}

/** WASI: accepts all bytes and discards them. */
export function fd_write(_fd: i32, vectors: usize, count: i32, written: usize): i32 {
  let total: u32 = 0;
  for (let i = 0; i < count; i++) total += load<u32>(vectors + i * 8 + 4);
  store<u32>(written, total);
  return 0;
}

/** WASI: not supported. */
export function fd_close(_fd: i32): i32 {
  return 52;
}

/** WASI: no such file. */
export function fd_fdstat_get(_fd: i32, _at: usize): i32 {
  return 8;
}

/** WASI: not supported. */
export function fd_seek(_fd: i32, _offset: i64, _whence: i32, _at: usize): i32 {
  return 52;
}
