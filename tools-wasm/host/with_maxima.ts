/**
 * Writes maxima into a parsed module: of its memory's pages, and of a table that has none. @module
 */
import { TABLE_ELEMENTS } from "./bounds.ts";
import { type Limits, type ModuleShape, SECTION } from "./module_shape.ts";
import { joinBytes } from "../../port/join_bytes.ts";

/**
 * The module with a memory of at most `pages` (0: as declared) and a maximum for its table, which
 * then cannot grow past the load gate's limit: `table.grow` returns -1. The same bytes when nothing
 * needs to be written.
 */
export function withMaxima(
  bytes: Uint8Array<ArrayBuffer>,
  shape: ModuleShape,
  pages = 0,
): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  let from = 0;
  const edits = [
    ...shape.tables.flatMap((limits) =>
      limits.most === undefined
        ? [edit(shape.places.get(SECTION.table), limits, roomOf(shape))]
        : []
    ),
    ...shape.memories.flatMap((limits) =>
      pages > 0 ? [edit(shape.places.get(SECTION.memory), limits, pages)] : []
    ),
  ];
  for (const { section, limits, most } of edits) {
    const [start, content, end] = section;
    const written = [0x01, ...leb(limits.least), ...leb(most)];
    const [cutFrom, cutTo] = limits.place;
    const length = end - content - (cutTo - cutFrom) + written.length;
    parts.push(bytes.subarray(from, start + 1), new Uint8Array(leb(length)));
    parts.push(bytes.subarray(content, cutFrom), new Uint8Array(written));
    parts.push(bytes.subarray(cutTo, end));
    from = end;
  }
  if (edits.length === 0) return bytes;
  parts.push(bytes.subarray(from));
  return joinBytes(parts);
}

interface Edit {
  readonly section: readonly [number, number, number];
  readonly limits: Limits;
  readonly most: number;
}

function edit(section: Edit["section"] | undefined, limits: Limits, most: number): Edit {
  if (section === undefined) throw new TypeError("Cannot write a maximum: no section was read");
  return { section, limits, most };
}

/** Elements left for the one table without a maximum. */
function roomOf({ tables }: ModuleShape): number {
  return tables.reduce((room, { most }) => room - (most ?? 0), TABLE_ELEMENTS);
}

function leb(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value;; left = Math.floor(left / 128)) {
    if (left < 128) return [...bytes, left];
    bytes.push((left % 128) | 0x80);
  }
}
