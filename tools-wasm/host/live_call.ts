/** The state of a running call: its usage, its output and its faults. @module */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import { type LogBook, makeLogBook } from "./log_book.ts";
import { BLOCK_BYTES, BLOCKS } from "./bounds.ts";

/** The host's record of one call, invisible to the plugin. */
export interface LiveCall {
  /** The kernel's id of the call: sent with each host call. */
  readonly id: string;
  /** For messages: `"TOOL" of plugin "NAME"`. */
  readonly label: string;
  /** Maximum bytes of its output. */
  readonly outputBytes: number;
  /** The current input of its export, UTF-8. */
  input: Uint8Array;
  readonly logs: LogBook;
  readonly blocks: BlockMeter;
  /** Codes of faults that the kernel sent: the call may end with them, too. */
  readonly heard: Set<FaultCode>;
  hostCalls: number;
  cancelled: boolean;
  /** The output that the plugin set. */
  output: Uint8Array | undefined;
  /** The error that the plugin set through Extism's function. */
  error: string | undefined;
  /** Whether its instance is unusable: it was interrupted, or said so itself. */
  discard: boolean;
  /** The fault with which the call must fail: a module can catch errors thrown inside it. */
  fault: Fault | undefined;
}

const NOTHING = new Uint8Array(0);

/** Makes the state of a new call. */
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

// Counts the host memory that a call uses through Extism.

/** Counts blocks. Extism checks its own limit only after making a block, by summing all blocks. */
interface BlockMeter {
  /**
   * Counts a block of `bytes` before it is made.
   * @param lengthOf current length of the block at an address; 0 when it was freed
   * @returns why it may not be made; undefined when it may
   */
  take(bytes: number, lengthOf: (address: bigint) => bigint): string | undefined;
  /** Records the address of the block that was counted last. */
  placed(address: bigint): void;
}

/** Makes an empty meter. */
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
      // Only at the limit: blocks freed meanwhile no longer count.
      addresses = addresses.filter((address) => lengthOf(address) > 0n);
      held = addresses.reduce((sum, each) => sum + Number(lengthOf(each)), bytes);
      return held > BLOCK_BYTES ? over : undefined;
    },
    placed: (address: bigint) => void addresses.push(address),
  });
}
