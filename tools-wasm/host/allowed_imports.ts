/** The functions that a plugin may import: no others can be linked. @module */

/** Extism's functions, without `http_*`: blocks, input, output, logs, an empty configuration. */
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

/** Remit's functions: one host call, and three that copy between a plugin's memory and blocks. */
const REMIT: Readonly<Record<string, string>> = {
  host_call: "i64 -> i64",
  block_read: "i64 i32 ->",
  block_write: "i64 i32 i32 ->",
  input_read: "i32 ->",
};

/** The module of Extism's own functions. */
export const EXTISM_ENV = "extism:host/env";
/** The module of Remit's functions. */
export const EXTISM_USER = "extism:host/user";

/** Function signatures by module and name. */
export const ALLOWED_IMPORTS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  [EXTISM_ENV, new Map(Object.entries(EXTISM))],
  [EXTISM_USER, new Map(Object.entries(REMIT))],
]);
