/** Files that begin like GGUF files, with facts and filler in place of weights. @module */
import { joinBytes } from "../../port/join_bytes.ts";

const encoder = new TextEncoder();

function integer(size: 4 | 8, value: number): Uint8Array {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  if (size === 4) view.setUint32(0, value, true);
  else view.setBigUint64(0, BigInt(value), true);
  return bytes;
}

function text(value: string): Uint8Array[] {
  const bytes = encoder.encode(value);
  return [integer(8, bytes.length), bytes];
}

/** A weights file of one tensor; its bytes end with `filler`. */
export function fakeWeights(
  facts: { readonly name?: string; readonly licence?: string; readonly filler?: string } = {},
): Uint8Array {
  const keys: Uint8Array[][] = [
    [...text("general.architecture"), integer(4, 8), ...text("llama")],
    [
      ...text("tokenizer.some"),
      integer(4, 9),
      integer(4, 8),
      integer(8, 2),
      ...text("a"),
      ...text("b"),
    ],
    [...text("llama.context_length"), integer(4, 4), integer(4, 2_048)],
    [...text("llama.embedding_length"), integer(4, 4), integer(4, 8)],
    [...text("llama.block_count"), integer(4, 4), integer(4, 1)],
    [...text("general.name"), integer(4, 8), ...text(facts.name ?? "Tiny")],
    [...text("general.license"), integer(4, 8), ...text(facts.licence ?? "mit")],
  ];
  const filler = encoder.encode(facts.filler ?? "weights ");
  const head = joinBytes([
    encoder.encode("GGUF"),
    integer(4, 3),
    integer(8, 1),
    integer(8, keys.length),
    ...keys.flat(),
    // One tensor of bytes (I8), which begins at the padded end of the header.
    ...[...text("filler"), integer(4, 1), integer(8, filler.length), integer(4, 24), integer(8, 0)],
  ]);
  const padding = new Uint8Array(-head.length & 31);
  return joinBytes([head, padding, filler]);
}
