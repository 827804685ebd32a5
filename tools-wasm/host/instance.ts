/** One instance of a module, run by Extism in the foreground. @module */
// Must come first: it wraps a function that Extism looks up when it is evaluated.
import { exitCodeOf } from "./exit_codes.ts";
import { type CallContext, createPlugin } from "@extism/extism";
import { Fault } from "../../contracts/base/fault.ts";
import { EXTISM_ENV, EXTISM_USER } from "./allowed_imports.ts";
import { MESSAGE_CHARACTERS, VARIABLE_BYTES } from "./bounds.ts";
import { type Grants, type HostCallPowers, serveHostCall } from "./host_call.ts";
import { failCall, type LiveCall } from "./live_call.ts";
import { type Beginning, beginningOf, rewind } from "./rewind.ts";

/** An instance. It serves one call at a time: Extism is not re-entrant. */
export interface Instance {
  /**
   * Calls an export with `input`; the results are then in `call`.
   * @throws {Fault} when the export trapped, reported failure, or exceeded a limit
   */
  run(call: LiveCall, name: string, input: string): Promise<void>;
  /** Its current state; before its first call, its initial state. */
  beginning(): Beginning;
  /** Restores an initial state. False where that is impossible: the instance is then unusable. */
  rewind(beginning: Beginning): boolean;
  /** Current bytes of its memory. */
  wasmBytes(): number;
}

/** The parts of an instance. */
export interface InstanceParts {
  readonly module: WebAssembly.Module;
  readonly grants: Grants;
  readonly powers: HostCallPowers;
}

// Without a prototype: Extism looks up keys that the plugin names.
const NO_CONFIG: Readonly<Record<string, string>> = Object.freeze(Object.create(null));
const encoder = new TextEncoder();

/**
 * Makes an instance for its first call, whose limits apply to its start code.
 * @throws {Fault} as {@link Instance.run}
 */
export async function makeInstance(parts: InstanceParts, first: LiveCall): Promise<Instance> {
  const { module, grants, powers } = parts;
  let live: LiveCall | undefined = first;
  const liveNow = (): LiveCall => {
    if (live === undefined) throw new TypeError("Cannot serve a plugin: no call is under way");
    return live;
  };
  let memory: WebAssembly.Memory | undefined;
  const memoryNow = (): Uint8Array => {
    if (memory === undefined) throw new TypeError("it exports no memory, or not yet");
    // Read each time: a memory that grows gets a new buffer.
    return new Uint8Array(memory.buffer);
  };
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    const call = liveNow();
    try {
      const value = await work();
      if (call.fault !== undefined) throw call.fault;
      return value;
    } catch (error) {
      call.discard = true;
      throw call.fault ?? trapOf(call, error);
    } finally {
      live = undefined;
    }
  };
  const plugin = await attempt(() =>
    createPlugin({ wasm: [{ module }] }, {
      functions: {
        [EXTISM_ENV]: { ...makeExtismEnv(liveNow) },
        [EXTISM_USER]: {
          ...makeMemoryCopies(liveNow, memoryNow),
          // Extism recognizes only real async functions.
          async host_call(context: CallContext, address: bigint): Promise<bigint> {
            const call = liveNow();
            if (call.fault !== undefined) throw call.fault;
            const request = context.read(address)?.bytes();
            const answer = encoder.encode(await serveHostCall({ call, grants, powers }, request));
            countBlock(call, context, answer.length);
            const stored = context.store(answer);
            call.blocks.placed(stored);
            return stored;
          },
        },
      },
      config: NO_CONFIG,
      fetch: () => Promise.reject(new TypeError("Cannot fetch: plugins have no network")),
    })
  );
  const { exports } = await plugin.getInstance();
  for (const each of Object.values(exports)) if (each instanceof WebAssembly.Memory) memory = each;

  return Object.freeze({
    async run(call: LiveCall, name: string, input: string): Promise<void> {
      live = call;
      call.input = encoder.encode(input);
      const exported = exports[name];
      await attempt(() => plugin.call(name, call.input));
      // The instance keeps nothing of the call but its module's memory.
      await plugin.reset();
      if (call.error === undefined && (exported === undefined || !exitCodeOf(exported))) return;
      throw new Fault("upstream", call.error ?? `Cannot finish ${call.label}: it says it failed`);
    },
    beginning: () => beginningOf(exports),
    rewind: (beginning: Beginning) => rewind(exports, beginning),
    wasmBytes: () => memory?.buffer.byteLength ?? 0,
  });
}

function trapOf(call: LiveCall, error: unknown): Fault {
  const why = error instanceof Error ? error.message : String(error);
  const reason = call.error === undefined ? "" : `: ${call.error}`;
  return new Fault(
    "upstream",
    `Cannot finish ${call.label}: it trapped (${why.slice(0, 200)})${reason}`
      .slice(0, MESSAGE_CHARACTERS),
    { cause: error },
  );
}

// Copies between a plugin's memory and blocks in one call each: Extism's own functions move eight
// bytes at a time. The copies permit nothing beyond `load_u64` and `store_u64`.

/** The functions linked to an instance under {@link EXTISM_USER}. Memory addresses are unsigned. */
interface MemoryCopies {
  /** Copies the whole block to `at`. */
  block_read(context: CallContext, block: bigint, at: number): void;
  /** Copies `bytes` from `at` to the start of the block. */
  block_write(context: CallContext, block: bigint, at: number, bytes: number): void;
  /** Copies the whole input to `at`. */
  input_read(context: CallContext, at: number): void;
}

/** Makes an instance's copy functions. An address in no block, or outside the memory, traps. */
function makeMemoryCopies(live: LiveNow, memory: () => Uint8Array): MemoryCopies {
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

// Replacements for Extism's functions that need Remit's limits. Its other functions touch only
// blocks of the same instance, whose bounds JavaScript checks.

/** The call that runs in an instance now; throws when there is none. */
type LiveNow = () => LiveCall;

/** A function that Extism links, called with the instance's own memory. */
type Linked = (context: CallContext, ...args: bigint[]) => bigint | void;

const OFFSET = (1n << 48n) - 1n;
/** Maximum bytes in UTF-8 of one UTF-16 unit. */
const CHARACTER_BYTES = 3;
const decoder = new TextDecoder();

/** Makes an instance's Extism functions. */
function makeExtismEnv(live: LiveNow): Readonly<Record<string, Linked>> {
  const variables = new Map<string, Uint8Array>();
  let variableBytes = 0;

  const textAt = (context: CallContext, address: bigint, bytes: number): string | undefined => {
    const block = context.read(address)?.bytes();
    return block === undefined ? undefined : decoder.decode(block.subarray(0, bytes));
  };
  const log: Linked = (context, address) => {
    const { logs } = live();
    // One byte more than fits, so that the log book detects the overflow.
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
function countBlock(call: LiveCall, context: CallContext, bytes: number): void {
  if (call.fault !== undefined) throw call.fault;
  const why = call.blocks.take(bytes, (address) => context.length(address));
  if (why !== undefined) failCall(call, "tooLarge", why);
}
