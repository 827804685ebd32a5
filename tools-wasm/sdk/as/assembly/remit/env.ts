// The imports that Extism and Remit provide. A module with any other import is not loaded.
// Never run `deno fmt` over this file: it drops the text behind @.

@external("extism:host/env", "alloc")
declare function alloc(bytes: u64): u64;

@external("extism:host/env", "free")
declare function free(block: u64): void;

@external("extism:host/env", "length")
declare function length(block: u64): u64;

@external("extism:host/env", "input_length")
declare function inputLength(): u64;

@external("extism:host/env", "output_set")
export declare function outputSet(block: u64, bytes: u64): void;

@external("extism:host/env", "error_set")
export declare function errorSet(block: u64): void;

@external("extism:host/user", "host_call")
export declare function hostCallRaw(block: u64): u64;

// Extism copies eight bytes a call: a file would take ten times as long.

@external("extism:host/user", "input_read")
declare function inputRead(to: usize): void;

@external("extism:host/user", "block_read")
declare function blockRead(block: u64, to: usize): void;

@external("extism:host/user", "block_write")
declare function blockWrite(block: u64, from: usize, bytes: usize): void;

/** The bytes of a call's input. */
export function readInput(): Uint8Array {
  const input = new Uint8Array(<i32> inputLength());
  inputRead(input.dataStart);
  return input;
}

/** Copies bytes to a block of the host's memory and returns its address. */
export function toHost(base: usize, bytes: i32): u64 {
  const block = alloc(bytes);
  blockWrite(block, base, bytes);
  return block;
}

/** Copies a block of the host's memory here and frees the block. */
export function fromHost(block: u64): Uint8Array {
  const here = new Uint8Array(<i32> length(block));
  blockRead(block, here.dataStart);
  free(block);
  return here;
}
