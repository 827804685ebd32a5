/**
 * Restores an instance to its initial state, byte for byte: a fresh instance in a twelfth of the
 * time, without leftovers in this process. docs/decision/0020.
 * @module
 */

/** Everything that a call can change in an instance that exports it and has no other state. */
export interface Beginning {
  /** Bytes of its memory. */
  readonly length: number;
  /** The whole memory, in order. */
  readonly stretches: readonly Stretch[];
  /** Mutable globals by their exported names. */
  readonly globals: ReadonlyMap<string, number | bigint>;
}

/** Consecutive pages of a memory: their bytes, or undefined where all are zero. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
}

/** Bytes of a page of WebAssembly memory. */
const PAGE = 65_536;

/** The memory and the globals of an instance in which nothing has run yet. */
export function beginningOf(exports: WebAssembly.Exports): Beginning {
  const globals = new Map<string, number | bigint>();
  let memory: ArrayBufferLike = new ArrayBuffer(0);
  for (const [name, each] of Object.entries(exports)) {
    if (each instanceof WebAssembly.Memory) memory = each.buffer;
    if (each instanceof WebAssembly.Global) globals.set(name, each.value);
  }
  return Object.freeze({ length: memory.byteLength, stretches: stretchesOf(memory), globals });
}

/** Restores the state. False where the memory has grown: no memory shrinks. */
export function rewind(exports: WebAssembly.Exports, beginning: Beginning): boolean {
  for (const [name, each] of Object.entries(exports)) {
    if (each instanceof WebAssembly.Memory) {
      if (each.buffer.byteLength !== beginning.length) return false;
      const memory = new Uint8Array(each.buffer);
      for (const { from, to, bytes } of beginning.stretches) {
        if (bytes === undefined) memory.fill(0, from, to);
        else memory.set(bytes, from);
      }
    }
    const value = beginning.globals.get(name);
    if (each instanceof WebAssembly.Global && value !== undefined) each.value = value;
  }
  return true;
}

/** Groups neighbouring zero and other pages: two thirds of the engine's are stack and free heap. */
function stretchesOf(memory: ArrayBufferLike): readonly Stretch[] {
  const found: Stretch[] = [];
  for (let from = 0; from < memory.byteLength;) {
    const zero = isZero(memory, from);
    let to = from + PAGE;
    while (to < memory.byteLength && isZero(memory, to) === zero) to += PAGE;
    const bytes = zero ? undefined : new Uint8Array(memory, from, to - from).slice();
    found.push({ from, to, bytes });
    from = to;
  }
  return found;
}

function isZero(memory: ArrayBufferLike, from: number): boolean {
  // By words and without a callback: some hundred thousand words are checked before a first call.
  const words = new Int32Array(memory, from, PAGE / Int32Array.BYTES_PER_ELEMENT);
  for (let i = 0; i < words.length; i++) if (words[i] !== 0) return false;
  return true;
}
