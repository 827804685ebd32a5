/** Makes a module that begins where an instance of another stands now. @module */
import type { Global, WasmModule } from "./module.ts";
import { joined, signedLeb } from "./reader.ts";

/** Zeros in a row that are worth a new segment: its head costs up to eleven bytes. */
const GAP = 32;
/** How the exports begin that {@link withGlobals} adds. */
const GLOBAL = "global ";

/** Where `memory` is not zero, in pieces. */
function segmentsOf(memory: Uint8Array): WasmModule["data"] {
  const segments: { at: number; bytes: Uint8Array }[] = [];
  let at = 0;
  while (at < memory.length) {
    while (at < memory.length && memory[at] === 0) at += 1;
    if (at === memory.length) break;
    const from = at;
    let end = at;
    while (at < memory.length && at - end < GAP) {
      if (memory[at] !== 0) end = at + 1;
      at += 1;
    }
    segments.push({ at: from, bytes: memory.slice(from, end) });
    at = end;
  }
  return segments;
}

/** The first value of a global that holds `value` now. */
function constant(type: number, value: number | bigint): Uint8Array {
  if (type === 0x7f) return joined([[0x41], signedLeb(Number(value)), [0x0b]]);
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  if (type === 0x7c) {
    view.setFloat64(0, Number(value), true);
    return joined([[0x44], bytes, [0x0b]]);
  }
  const out: number[] = [];
  let rest = BigInt.asIntN(64, BigInt(value));
  while (rest < -0x40n || rest >= 0x40n) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return joined([[0x42], [...out, Number(rest & 0x7fn)], [0x0b]]);
}

/** The name under which {@link withGlobals} exports the global `index`. */
function globalName(index: number): string {
  return `${GLOBAL}${index}`;
}

/** `parts`, with every global that changes exported: for {@link imageOf}, and for who rewinds an instance. */
export function withGlobals(parts: WasmModule): WasmModule {
  const extra = parts.globals.flatMap((global, index) =>
    global.mutable ? [{ name: globalName(index), kind: 3, index }] : []
  );
  return { ...parts, exports: [...parts.exports, ...extra] };
}

/**
 * `parts` with the memory and the globals of `instance`, which was made of {@link withGlobals} of them, and with only
 * the exports `keep`, beside those of globals. Its memory has at most `maximum` pages. The table must be as it was.
 */
export function imageOf(
  parts: WasmModule,
  { instance, memory, keep, maximum }: {
    readonly instance: WebAssembly.Instance;
    readonly memory: Uint8Array;
    readonly keep: readonly string[];
    readonly maximum: number;
  },
): WasmModule {
  const globals = parts.globals.map((global, index): Global => {
    const now = instance.exports[globalName(index)];
    if (!(now instanceof WebAssembly.Global)) return global;
    return { ...global, init: constant(global.type, now.value) };
  });
  return {
    ...parts,
    globals,
    memory: { initial: memory.length / 65_536, maximum },
    exports: parts.exports.filter(({ name }) => name.startsWith(GLOBAL) || keep.includes(name)),
    data: segmentsOf(memory),
  };
}
