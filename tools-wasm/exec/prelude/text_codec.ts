/**
 * `TextEncoder` and `TextDecoder` for UTF-8, over two functions of QuickJS, for programs that run in WebAssembly. The
 * option `stream` of `decode` is ignored.
 * @module
 */
import {
  charCodeAt,
  indexOf,
  MakeBytes,
  makeString,
  MakeTypeError,
  put,
  slice,
  uncurry,
} from "./primordials.ts";

/** Conversions at the engine's native speed. */
export interface Utf8 {
  /** The UTF-8 of a text in a new buffer. */
  readonly encode: (text: string) => ArrayBuffer;
  /** Decodes bytes `from` to `from + bytes` of a buffer; a byte that is not UTF-8 is U+FFFD. */
  readonly decode: (buffer: ArrayBuffer, from: number, bytes: number) => string;
}

const BYTES = Object.getPrototypeOf(Uint8Array.prototype) as object;
const getter = (name: string) => {
  const get = Object.getOwnPropertyDescriptor(BYTES, name)?.get;
  return get === undefined ? undefined : uncurry<unknown, () => unknown>(get as () => unknown);
};
const bufferOf = getter("buffer");
const offsetOf = getter("byteOffset");
const lengthOf = getter("byteLength");
const toWellFormed = uncurry<string, () => string>(
  (String.prototype as unknown as { toWellFormed: () => string }).toWellFormed,
);
const copyInto = uncurry<Uint8Array, (from: Uint8Array) => void>(Uint8Array.prototype.set);
const lowerCase = uncurry<string, () => string>(String.prototype.toLowerCase);

/** Puts both classes on `target`. */
export function addTextCodec(target: object, utf8: Utf8): void {
  class TextEncoder {
    get encoding(): string {
      return "utf-8";
    }
    encode(text: unknown = ""): Uint8Array {
      return new MakeBytes(utf8.encode(toWellFormed(makeString(text))));
    }
    encodeInto(text: unknown, into: Uint8Array): { read: number; written: number } {
      const whole = toWellFormed(makeString(text));
      let end = whole.length;
      let bytes = this.encode(whole);
      // Rare and short: callers size the target well.
      while (bytes.length > into.length && end > 0) {
        end -= 1;
        // Half a surrogate pair would be written as U+FFFD.
        if ((charCodeAt(whole, end - 1) & 0xfc00) === 0xd800) end -= 1;
        bytes = this.encode(slice(whole, 0, end));
      }
      copyInto(into, bytes);
      return { read: end, written: bytes.length };
    }
  }
  class TextDecoder {
    readonly encoding = "utf-8";
    readonly fatal: boolean;
    readonly ignoreBOM: boolean;
    constructor(label: unknown = "utf-8", options: { fatal?: unknown; ignoreBOM?: unknown } = {}) {
      const name = lowerCase(makeString(label));
      if (name !== "utf-8" && name !== "utf8" && name !== "unicode-1-1-utf-8") {
        throw new RangeError(`The encoding "${name}" is not supported: only utf-8 is`);
      }
      this.fatal = options.fatal === true;
      this.ignoreBOM = options.ignoreBOM === true;
    }
    decode(input?: unknown): string {
      if (input === undefined) return "";
      const bytes = viewOf(input);
      const text = utf8.decode(bytes.buffer, bytes.from, bytes.bytes);
      if (this.fatal && indexOf(text, "\uFFFD") >= 0 && !isUtf8(bytes, utf8.encode(text))) {
        throw new MakeTypeError("The bytes are not UTF-8");
      }
      return !this.ignoreBOM && charCodeAt(text, 0) === 0xfeff ? slice(text, 1) : text;
    }
  }
  put(target, "TextEncoder", TextEncoder);
  put(target, "TextDecoder", TextDecoder);
}

/** Whether encoding the decoded text gives the same bytes. */
function isUtf8(given: View, again: ArrayBuffer): boolean {
  if (given.bytes !== again.byteLength) return false;
  const left = new MakeBytes(given.buffer, given.from, given.bytes);
  const right = new MakeBytes(again);
  for (let i = 0; i < right.length; i++) if (left[i] !== right[i]) return false;
  return true;
}

interface View {
  readonly buffer: ArrayBuffer;
  readonly from: number;
  readonly bytes: number;
}

function viewOf(input: unknown): View {
  if (input instanceof ArrayBuffer) return { buffer: input, from: 0, bytes: input.byteLength };
  if (input instanceof DataView) {
    return { buffer: input.buffer as ArrayBuffer, from: input.byteOffset, bytes: input.byteLength };
  }
  return {
    buffer: bufferOf?.(input) as ArrayBuffer,
    from: offsetOf?.(input) as number,
    bytes: lengthOf?.(input) as number,
  };
}
