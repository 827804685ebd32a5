/**
 * A program's output between two polls. The bound makes the program wait, so that nothing is lost.
 * Used by process_live.ts.
 * @module
 */

/** One output stream. */
interface Output {
  /** Adds a piece; resolves once there is room for another. */
  hear(piece: Uint8Array): Promise<void>;
  /** Number of unread bytes. */
  waiting(): number;
  /** Takes at most `bytes` bytes as text: the oldest, or the newest, dropping older ones. */
  take(bytes: number, newest: boolean): { readonly text: string; readonly dropped: number };
  /** Called after the program's end: pieces no longer wait, and those that do not fit are dropped. */
  release(): void;
}

/** Makes an output that holds about `limit` bytes. `read` converts each piece first. */
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
      // Bytes in the pipe at the program's end still get room.
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
        // The rest of a character whose beginning was dropped is dropped as well.
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

// A terminal's output as text. Kept: printable characters, tabs, newlines; a carriage return after
// text on the line becomes a newline, so that no text is hidden by overwriting. Removed: colours,
// cursor movement, titles, bells, backspaces and every other control character.

/** Length of a control sequence, and of a control string, after which text counts as text again. */
const MAX_SEQUENCE = 256, MAX_STRING = 4_096;

/** The stream's position in a control sequence. */
type Place = "text" | "escape" | "intermediate" | "sequence" | "string" | "stringEscape";

/** Makes a reader of one terminal: called with the stream's pieces in order. */
export function makeTerminalText(): (piece: string) => string {
  let place: Place = "text";
  let length = 0;
  /** Whether the line has text, and whether the cursor has returned to its start. */
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
    // The end of a two-character sequence; a control character in its place acts by itself.
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
      else if (char === "\u0007" || char === "\u009c" || length > MAX_STRING) enter("text");
      return "";
    }
    if (char < " ") return char === "\n" || char === "\u001b" ? (enter("text"), show(char)) : "";
    const ends = place === "sequence" ? char >= "@" : char >= "0";
    if (!ends && length <= MAX_SEQUENCE) return "";
    enter("text");
    // A character that can end no sequence was never part of one.
    return char > "~" ? show(char) : "";
  };

  return (piece) => {
    let text = "";
    for (const char of piece) text += step(char);
    return text;
  };
}
