/** One call while it runs: what it used, said and was refused. @module */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import { type LogBook, makeLogBook } from "./log_book.ts";
import { BLOCK_BYTES, BLOCKS } from "./bounds.ts";

/** What the host knows of one call. The plugin never sees any of it. */
export interface LiveCall {
  /** The kernel's id for it: goes along with each host call. */
  readonly id: string;
  /** For messages: `"TOOL" of plugin "NAME"`. */
  readonly label: string;
  /** Most bytes of its output. */
  readonly outputBytes: number;
  /** What its export was given now, UTF-8. */
  input: Uint8Array;
  readonly logs: LogBook;
  readonly blocks: BlockMeter;
  /** Codes of faults that the kernel answered it: with those it may end, too. */
  readonly heard: Set<FaultCode>;
  hostCalls: number;
  cancelled: boolean;
  /** What it set as its output. */
  output: Uint8Array | undefined;
  /** What it set as its error, by Extism's function. */
  error: string | undefined;
  /** Its instance serves nothing more: it was left in the middle, or said so itself. */
  discard: boolean;
  /** Why it must fail, whatever the plugin makes of it: a module can catch what is thrown in it. */
  fault: Fault | undefined;
}

const NOTHING = new Uint8Array(0);

/** Makes the state of a call that begins. */
export function makeLiveCall(
  parts: Pick<LiveCall, "id" | "label" | "outputBytes">,
): LiveCall {
  return {
    ...parts,
    input: NOTHING,
    logs: makeLogBook(),
    blocks: makeBlockMeter(),
    heard: new Set(),
    hostCalls: 0,
    cancelled: false,
    output: undefined,
    error: undefined,
    discard: false,
    fault: undefined,
  };
}

/** Fails the call for good and leaves the plugin. */
export function failCall(call: LiveCall, code: FaultCode, why: string): never {
  call.fault ??= new Fault(code, `Cannot finish ${call.label}: ${why}`);
  throw call.fault;
}

// Counts what a call takes of its host's memory through Extism.

/** Counts blocks. Extism's own limit is checked after a block was made, and by adding all of them up. */
interface BlockMeter {
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
function makeBlockMeter(): BlockMeter {
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
