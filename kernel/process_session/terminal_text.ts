/**
 * What a program draws on a terminal, as text. Kept: printable characters, tabs, newlines; a carriage
 * return with text before it on the line is a newline, so that nothing is hidden by being drawn over.
 * Left out: colours, cursor movement, titles, bells, backspaces, every other control character.
 * @module
 */

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
