/** The pieces of a weights file, read as one file and let go of as early as can be. @module */

/** A file in memory. */
export interface WeightsFile {
  /** In bytes. */
  readonly length: number;
  /** A copy of bytes; fewer at the end of the file. Throws `RangeError` when they were let go of. */
  read(at: number, length: number): Uint8Array<ArrayBuffer>;
  /** The pieces that hold bytes from `at` to `end` have one reader less; with none left they go. */
  letGo(at: number, end: number): void;
  /** Counts a reader of the bytes from `at` to `end`, who will let go of them. */
  hold(at: number, end: number): void;
  /** Lets go of everything. */
  close(): void;
}

/**
 * Makes a file of pieces, which it takes over: a piece that is let go of is detached, so that its
 * memory is free at once, whoever else still knows the array.
 */
export function makeWeightsFile(pieces: readonly Uint8Array[]): WeightsFile {
  const starts: number[] = [];
  let length = 0;
  for (const piece of pieces) {
    starts.push(length);
    length += piece.length;
  }
  const held: (Uint8Array | undefined)[] = [...pieces];
  const readers = new Array<number>(pieces.length).fill(0);

  /** The piece that holds the byte at `at`. */
  function pieceAt(at: number): number {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function each(at: number, end: number, work: (piece: number) => void): void {
    if (end <= at || at >= length) return;
    for (let piece = pieceAt(at); piece < pieces.length && (starts[piece] ?? 0) < end; piece++) {
      work(piece);
    }
  }

  function free(piece: number): void {
    const bytes = held[piece];
    held[piece] = undefined;
    // A view of a part of something larger is not ours to detach.
    if (bytes?.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength) {
      bytes.buffer.transfer(0);
    }
  }

  return Object.freeze<WeightsFile>({
    length,
    read(at, wanted) {
      const end = Math.min(length, at + wanted);
      const copy = new Uint8Array(Math.max(0, end - at));
      each(at, end, (piece) => {
        const bytes = held[piece];
        if (bytes === undefined) throw new RangeError(`Cannot read weights at ${at}: let go of`);
        const start = starts[piece] ?? 0;
        const from = Math.max(at, start);
        const to = Math.min(end, start + bytes.length);
        copy.set(bytes.subarray(from - start, to - start), from - at);
      });
      return copy;
    },
    hold(at, end) {
      each(at, end, (piece) => {
        readers[piece] = (readers[piece] ?? 0) + 1;
      });
    },
    letGo(at, end) {
      each(at, end, (piece) => {
        const left = (readers[piece] ?? 0) - 1;
        readers[piece] = left;
        if (left === 0) free(piece);
      });
    },
    close() {
      for (let piece = 0; piece < held.length; piece++) free(piece);
    },
  });
}
