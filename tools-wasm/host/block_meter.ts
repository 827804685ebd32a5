/** Counts what a call takes of its host's memory through Extism. @module */
import { BLOCK_BYTES, BLOCKS } from "./bounds.ts";

/** Counts blocks. Extism's own limit is checked after a block was made, and by adding all of them up. */
export interface BlockMeter {
  /**
   * Counts a block of `bytes` that is about to be made.
   * @param lengthOf how long the block at an address is now: 0 when it was freed.
   * @returns why it may not be made; undefined when it may.
   */
  take(bytes: number, lengthOf: (address: bigint) => bigint): string | undefined;
  /** Says where the block lies that was counted last. */
  placed(address: bigint): void;
}

/** Makes a meter that has counted nothing. */
export function makeBlockMeter(): BlockMeter {
  let blocks = 0;
  let held = 0;
  let addresses: bigint[] = [];
  return Object.freeze({
    take(bytes: number, lengthOf: (address: bigint) => bigint): string | undefined {
      if (++blocks > BLOCKS) return `it asked its host for more than ${BLOCKS} blocks of memory`;
      const over = `it asked its host for more than ${BLOCK_BYTES} bytes of memory`;
      if (!(bytes >= 0 && bytes <= BLOCK_BYTES)) return over;
      held += bytes;
      if (held <= BLOCK_BYTES) return undefined;
      // Only now: what was freed meanwhile counts no more.
      addresses = addresses.filter((address) => lengthOf(address) > 0n);
      held = addresses.reduce((sum, each) => sum + Number(lengthOf(each)), bytes);
      return held > BLOCK_BYTES ? over : undefined;
    },
    placed: (address: bigint) => void addresses.push(address),
  });
}
