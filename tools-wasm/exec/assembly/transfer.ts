/** Transfers texts between the host and QuickJS: `q_` is QuickJS, `x_` Extism, a host block Extism's memory. Used by glue.ts. */
import {
  q_free,
  q_malloc,
  q_newString,
  x_alloc,
  x_blockRead,
  x_blockWrite,
  x_free,
  x_inputLength,
  x_inputRead,
  x_length,
} from "./imports";

/** A host block with the `bytes` bytes at `from`. */
export function toHost(from: usize, bytes: usize): u64 {
  const block = x_alloc(bytes);
  x_blockWrite(block, from, bytes);
  return block;
}

/** A QuickJS string of a host block, which is freed; 0 where there is no memory for it. */
export function fromHost(block: u64): usize {
  const bytes = <usize>x_length(block);
  const at = q_malloc(bytes + 1);
  if (at === 0) {
    x_free(block);
    return 0;
  }
  x_blockRead(block, at);
  x_free(block);
  return text(at, bytes);
}

/** The call's input as a QuickJS string, or 0. */
export function input(): usize {
  const bytes = <usize>x_inputLength();
  const at = q_malloc(bytes + 1);
  if (at === 0) return 0;
  x_inputRead(at);
  return text(at, bytes);
}

/** A QuickJS string of UTF-8 in a separate buffer, which is freed. */
function text(at: usize, bytes: usize): usize {
  store<u8>(at + bytes, 0);
  const value = q_newString(at, bytes);
  q_free(at);
  return value;
}
