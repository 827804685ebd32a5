/**
 * Extism's functions that need a bound of ours, in place of its own. The others of them touch only
 * blocks of the same instance, whose bounds JavaScript checks.
 * @module
 */
import type { CallContext } from "@extism/extism";
import { MESSAGE_CHARACTERS, VARIABLE_BYTES } from "./bounds.ts";
import { failCall, type LiveCall } from "./live_call.ts";

/** Gives the call that runs in an instance now; throws when there is none. */
export type LiveNow = () => LiveCall;

/** A function that Extism links: it is handed the instance's own memory. */
type Linked = (context: CallContext, ...args: bigint[]) => bigint | void;

const OFFSET = (1n << 48n) - 1n;
/** UTF-8 takes at most so many bytes for a character of UTF-16. */
const CHARACTER_BYTES = 3;
const decoder = new TextDecoder();

/** Makes the functions for one instance. */
export function makeExtismEnv(live: LiveNow): Readonly<Record<string, Linked>> {
  const variables = new Map<string, Uint8Array>();
  let variableBytes = 0;

  const textAt = (context: CallContext, address: bigint, bytes: number): string | undefined => {
    const block = context.read(address)?.bytes();
    return block === undefined ? undefined : decoder.decode(block.subarray(0, bytes));
  };
  const log: Linked = (context, address) => {
    const { logs } = live();
    // One byte more than fits, so that the book sees that it does not.
    const text = textAt(context, address, logs.room + 1);
    if (text !== undefined) logs.add(text);
  };
  return Object.freeze({
    log_trace: () => undefined,
    log_debug: log,
    log_info: log,
    log_warn: log,
    log_error: log,

    alloc: (context, size) => {
      const call = live();
      countBlock(call, context, Number(size));
      const address = context.alloc(size);
      call.blocks.placed(address);
      return address;
    },

    output_set: (context, address, length) => {
      const call = live();
      const block = context.read(address)?.bytes();
      const offset = Number(address & OFFSET);
      const size = Number(length);
      if (block === undefined || size < 0 || offset + size > block.length) {
        return failCall(call, "upstream", "it set an output that lies in no block");
      }
      if (size > call.outputBytes) {
        const why = `its result has ${size} bytes, and ${call.outputBytes} are the most: ` +
          "have it give less";
        failCall(call, "tooLarge", why);
      }
      call.output = block.subarray(offset, offset + size);
    },

    error_set: (context, address) => {
      const text = textAt(context, address, MESSAGE_CHARACTERS * CHARACTER_BYTES);
      live().error = text?.slice(0, MESSAGE_CHARACTERS) ?? "";
    },
    error_get: () => 0n,

    var_get: (context, address) => {
      const value = variables.get(textAt(context, address, VARIABLE_BYTES) ?? "");
      if (value === undefined) return 0n;
      const call = live();
      countBlock(call, context, value.length);
      const stored = context.store(value.slice());
      call.blocks.placed(stored);
      return stored;
    },

    var_set: (context, address, valueAddress) => {
      const name = textAt(context, address, VARIABLE_BYTES) ?? "";
      const value = valueAddress === 0n ? undefined : context.read(valueAddress)?.bytes();
      const old = variables.get(name);
      if (old !== undefined) variableBytes -= old.length + name.length;
      variables.delete(name);
      if (value === undefined) return;
      variableBytes += value.length + name.length;
      if (variableBytes > VARIABLE_BYTES) {
        failCall(live(), "tooLarge", `it keeps more than ${VARIABLE_BYTES} bytes in variables`);
      }
      variables.set(name, value.slice());
    },
  });
}

/** Counts a block of an instance; ends the call when it has too many. */
export function countBlock(call: LiveCall, context: CallContext, bytes: number): void {
  if (call.fault !== undefined) throw call.fault;
  const why = call.blocks.take(bytes, (address) => context.length(address));
  if (why !== undefined) failCall(call, "tooLarge", why);
}
