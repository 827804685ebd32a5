/** Puts the parts of a module together. @module */
import type { WasmModule } from "./module.ts";
import { joined, leb, signedLeb } from "./reader.ts";

type Bytes = Uint8Array | readonly number[];

function vector(items: readonly Bytes[]): Uint8Array {
  return joined([leb(items.length), ...items]);
}

function named(name: string): Uint8Array {
  const bytes = new TextEncoder().encode(name);
  return joined([leb(bytes.length), bytes]);
}

function sized(bytes: Uint8Array): Uint8Array {
  return joined([leb(bytes.length), bytes]);
}

function limits({ initial, maximum }: { initial: number; maximum: number | undefined }): Bytes {
  return maximum === undefined ? [0, ...leb(initial)] : [1, ...leb(initial), ...leb(maximum)];
}

/** The module of `parts`, as bytes. The same parts give the same bytes. */
export function writeModule(parts: WasmModule): Uint8Array<ArrayBuffer> {
  const sections: readonly (readonly [number, Bytes])[] = [
    [1, vector(parts.types)],
    [
      2,
      vector(
        parts.imports.map(({ module, name, kind, type }) =>
          joined([named(module), named(name), [kind], leb(type)])
        ),
      ),
    ],
    [3, vector(parts.functions.map(leb))],
    ...(parts.tables === undefined ? [] : [[4, parts.tables] as const]),
    ...(parts.memory === undefined ? [] : [[5, vector([limits(parts.memory)])] as const]),
    [
      6,
      vector(
        parts.globals.map(({ type, mutable, init }) => joined([[type, mutable ? 1 : 0], init])),
      ),
    ],
    [
      7,
      vector(
        parts.exports.map(({ name, kind, index }) => joined([named(name), [kind], leb(index)])),
      ),
    ],
    [
      9,
      vector(
        parts.elements.map(({ head, functions }) => joined([head, vector(functions.map(leb))])),
      ),
    ],
    [10, vector(parts.code.map(sized))],
    [
      11,
      vector(
        parts.data.map(({ at, bytes }) =>
          joined([[0, 0x41, ...signedLeb(at), 0x0b], sized(bytes)])
        ),
      ),
    ],
  ];
  return joined([
    [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...sections.flatMap(([id, content]) => [[id], leb(content.length), content]),
  ]);
}
