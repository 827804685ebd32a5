/** One instance of a module, run by Extism in the foreground. @module */
// First: Extism looks up what this file wraps when it is evaluated.
import { exitCodeOf } from "./exit_codes.ts";
import { type CallContext, createPlugin } from "@extism/extism";
import { Fault } from "../../contracts/fault.ts";
import { EXTISM_ENV, EXTISM_USER } from "./allowed_imports.ts";
import { MESSAGE_CHARACTERS } from "./bounds.ts";
import { countBlock, makeExtismEnv } from "./extism_env.ts";
import { type Grants, type HostCallPowers, serveHostCall } from "./host_call.ts";
import type { LiveCall } from "./live_call.ts";
import { makeMemoryCopies } from "./memory_copies.ts";
import { type Beginning, beginningOf, rewind } from "./rewind.ts";

/** An instance. It serves one call at a time: Extism is not re-entrant. */
export interface Instance {
  /**
   * Calls an export, with `input`; what it gave back is then in `call`.
   * @throws {Fault} when it trapped, said that it failed, or passed a bound.
   */
  run(call: LiveCall, name: string, input: string): Promise<void>;
  /** What it holds now; before its first call that is its beginning. */
  beginning(): Beginning;
  /** Makes it as it was then. False where it cannot be: it is done with. */
  rewind(beginning: Beginning): boolean;
  /** Bytes of its memory now. */
  wasmBytes(): number;
}

/** What an instance is made of. */
export interface InstanceParts {
  readonly module: WebAssembly.Module;
  readonly grants: Grants;
  readonly powers: HostCallPowers;
}

// Without a prototype: Extism looks keys up that the plugin names.
const NO_CONFIG: Readonly<Record<string, string>> = Object.freeze(Object.create(null));
const encoder = new TextEncoder();

/**
 * Makes an instance for its first call, under whose bounds its start code runs.
 * @throws {Fault} as {@link Instance.run}.
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
    // Each time: growing gives a memory a new buffer.
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
          // Extism takes only real async functions for such.
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
      // Nothing of the call stays with the instance but what its module keeps in its memory.
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
  const said = call.error === undefined ? "" : `: ${call.error}`;
  return new Fault(
    "upstream",
    `Cannot finish ${call.label}: it trapped (${why.slice(0, 200)})${said}`
      .slice(0, MESSAGE_CHARACTERS),
    { cause: error },
  );
}
