/** What a program prints between two polls: bounded by making it wait, so that nothing is lost. @module */

/** One output. */
export interface Output {
  /** Takes a piece in; resolves when there is room for another. */
  hear(piece: Uint8Array): Promise<void>;
  /** Bytes that wait. */
  waiting(): number;
  /** At most so many bytes as text: the oldest, or the newest, when what is older is dropped. */
  take(bytes: number, newest: boolean): { readonly text: string; readonly dropped: number };
  /** The program has ended: nobody waits any more, and what does not fit is dropped. */
  release(): void;
}

/** Makes an output that holds about `limit` bytes. `read` is given each piece first. */
export function makeOutput(
  limit: number,
  read: (piece: Uint8Array) => Uint8Array = (piece) => piece.slice(),
): Output {
  let pieces: Uint8Array[] = [];
  let size = 0, lost = 0;
  let released = false;
  let decoder = new TextDecoder();
  let go = (): void => {};

  /** Takes bytes off the front. */
  const shift = (bytes: number): readonly Uint8Array[] => {
    const taken: Uint8Array[] = [];
    let left = bytes;
    let at = 0;
    for (; at < pieces.length && left > 0; at++) {
      const piece = pieces[at] ?? new Uint8Array();
      const part = piece.subarray(0, left);
      taken.push(part);
      left -= part.length;
      if (part.length === piece.length) continue;
      pieces[at] = piece.subarray(part.length);
      break;
    }
    pieces = pieces.slice(at);
    size -= bytes - left;
    return taken;
  };

  return Object.freeze({
    async hear(piece: Uint8Array): Promise<void> {
      // What lay in the pipe when the program ended still has a place.
      if (released && size >= 2 * limit) {
        lost += piece.length;
        return;
      }
      const kept = read(piece);
      if (kept.length > 0) pieces.push(kept);
      size += kept.length;
      if (size < limit || released) return;
      await new Promise<void>((resolve) => {
        go = resolve;
      });
    },
    waiting: () => size,
    take(bytes: number, newest: boolean): { readonly text: string; readonly dropped: number } {
      let dropped = lost;
      lost = 0;
      if (newest && size > bytes) {
        dropped += size - bytes;
        shift(size - bytes);
        // The rest of a character whose beginning was dropped goes with it.
        for (let n = 0; n < 3 && ((pieces[0]?.[0] ?? 0) & 0xc0) === 0x80; n++) {
          shift(1);
          dropped += 1;
        }
        decoder = new TextDecoder();
      }
      let text = "";
      for (const piece of shift(Math.min(bytes, size))) {
        text += decoder.decode(piece, { stream: true });
      }
      if (released && size === 0) text += decoder.decode();
      if (size < limit) go();
      return { text, dropped };
    },
    release(): void {
      released = true;
      go();
    },
  });
}
