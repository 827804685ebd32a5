/** What a program prints between two polls: bounded by making it wait, so that nothing is lost. @module */

/** One output. */
interface Output {
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

// What a program draws on a terminal, as text. Kept: printable characters, tabs, newlines; a carriage
// return with text before it on the line is a newline, so that nothing is hidden by being drawn over.
// Left out: colours, cursor movement, titles, bells, backspaces, every other control character.

/** Longest control sequence, and longest control string; past it text is text again. */
const LONGEST_SEQUENCE = 256, LONGEST_STRING = 4_096;

/** Where in a control sequence the stream is. */
type Place = "text" | "escape" | "intermediate" | "sequence" | "string" | "stringEscape";

/** Makes a reader of one terminal: it is called with the stream's pieces, in order. */
export function makeTerminalText(): (piece: string) => string {
  let place: Place = "text";
  let length = 0;
  /** Whether text stands on the line, and whether the cursor was put back to its start. */
  let written = false, returned = false;

  const enter = (next: Place): string => {
    place = next;
    length = 0;
    return "";
  };

  const show = (char: string): string => {
    const code = char.codePointAt(0) ?? 0;
    switch (char) {
      case "\n":
      case "\v":
      case "\f":
        written = returned = false;
        return "\n";
      case "\r":
        returned = written;
        return "";
      case "\u001b":
        return enter("escape");
      case "\u009b":
        return enter("sequence");
    }
    // DCS, SOS, OSC, PM and APC: strings for the terminal itself.
    if ([0x90, 0x98, 0x9d, 0x9e, 0x9f].includes(code)) return enter("string");
    if (char !== "\t" && (code < 0x20 || (code >= 0x7f && code < 0xa0))) return "";
    const before = returned ? "\n" : "";
    written = true;
    returned = false;
    return before + char;
  };

  const escaped = (char: string): string => {
    if (char === "[") return enter("sequence");
    if ("]PX^_".includes(char)) return enter("string");
    if (char >= " " && char <= "/") return enter("intermediate");
    enter("text");
    // A sequence of two characters; a control character in its place is one by itself.
    return char < " " ? show(char) : "";
  };

  const step = (char: string): string => {
    length += char.length;
    if (place === "text") return show(char);
    if (char === "\u0018" || char === "\u001a") return enter("text");
    if (place === "escape") return escaped(char);
    if (place === "stringEscape") {
      if (char === "\\") return enter("text");
      enter("escape");
      return escaped(char);
    }
    if (place === "string") {
      if (char === "\u001b") place = "stringEscape";
      else if (char === "\u0007" || char === "\u009c" || length > LONGEST_STRING) enter("text");
      return "";
    }
    if (char < " ") return char === "\n" || char === "\u001b" ? (enter("text"), show(char)) : "";
    const ends = place === "sequence" ? char >= "@" : char >= "0";
    if (!ends && length <= LONGEST_SEQUENCE) return "";
    enter("text");
    // What can end no sequence was never part of one.
    return char > "~" ? show(char) : "";
  };

  return (piece) => {
    let text = "";
    for (const char of piece) text += step(char);
    return text;
  };
}
