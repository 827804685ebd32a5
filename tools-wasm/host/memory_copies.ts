/**
 * Copies between a plugin's memory and blocks, in one call each: Extism's own functions move eight
 * bytes at a time. They do nothing that `load_u64` and `store_u64` could not.
 * @module
 */
import type { CallContext } from "@extism/extism";
import type { LiveNow } from "./extism_env.ts";

/** What is linked to an instance, under {@link EXTISM_USER}. Addresses in memory are unsigned. */
export interface MemoryCopies {
  /** The whole block to `at`. */
  block_read(context: CallContext, block: bigint, at: number): void;
  /** `bytes` from `at` on to the start of the block. */
  block_write(context: CallContext, block: bigint, at: number, bytes: number): void;
  /** The whole input to `at`. */
  input_read(context: CallContext, at: number): void;
}

/** Makes the functions for one instance. What lies in no block, or outside the memory, is a trap. */
export function makeMemoryCopies(live: LiveNow, memory: () => Uint8Array): MemoryCopies {
  const blockAt = (context: CallContext, address: bigint): Uint8Array => {
    const block = context.read(address)?.bytes();
    if (block === undefined) throw new RangeError("it copies a block that is none");
    return block;
  };
  return Object.freeze({
    block_read(context: CallContext, block: bigint, at: number): void {
      memory().set(blockAt(context, block), at >>> 0);
    },
    block_write(context: CallContext, block: bigint, at: number, bytes: number): void {
      const [from, length, whole] = [at >>> 0, bytes >>> 0, memory()];
      if (from + length > whole.length) throw new RangeError("it copies from outside its memory");
      blockAt(context, block).set(whole.subarray(from, from + length));
    },
    input_read(_context: CallContext, at: number): void {
      memory().set(live().input, at >>> 0);
    },
  });
}
