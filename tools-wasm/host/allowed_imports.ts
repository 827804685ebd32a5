/** Every function that a plugin may import: nothing else is there to be linked. @module */

/** Extism's own, without `http_*`: blocks, input, output, logs, and its configuration, which is empty. */
const EXTISM: Readonly<Record<string, string>> = {
  alloc: "i64 -> i64",
  free: "i64 ->",
  length: "i64 -> i64",
  length_unsafe: "i64 -> i64",
  load_u8: "i64 -> i32",
  load_u64: "i64 -> i64",
  store_u8: "i64 i32 ->",
  store_u64: "i64 i64 ->",
  input_offset: "-> i64",
  input_length: "-> i64",
  input_load_u8: "i64 -> i32",
  input_load_u64: "i64 -> i64",
  output_set: "i64 i64 ->",
  error_set: "i64 ->",
  error_get: "-> i64",
  config_get: "i64 -> i64",
  var_get: "i64 -> i64",
  var_set: "i64 i64 ->",
  log_trace: "i64 ->",
  log_debug: "i64 ->",
  log_info: "i64 ->",
  log_warn: "i64 ->",
  log_error: "i64 ->",
  get_log_level: "-> i32",
};

/** Ours: the one that asks for something, and three that copy between a plugin's memory and blocks. */
const OURS: Readonly<Record<string, string>> = {
  host_call: "i64 -> i64",
  block_read: "i64 i32 ->",
  block_write: "i64 i32 i32 ->",
  input_read: "i32 ->",
};

/** Where Extism's own functions are imported from. */
export const EXTISM_ENV = "extism:host/env";
/** Where ours are imported from. */
export const EXTISM_USER = "extism:host/user";

/** Functions by the module that they are imported from, with their signatures. */
export const ALLOWED_IMPORTS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  [EXTISM_ENV, new Map(Object.entries(EXTISM))],
  [EXTISM_USER, new Map(Object.entries(OURS))],
]);
