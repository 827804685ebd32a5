/** Bytes of a terminal as keys: letters, movements and pastes, however a read cuts them. @module */

/** What one key does to a line. */
export type Move =
  | "enter"
  | "newline"
  | "back"
  | "backWord"
  | "delete"
  | "left"
  | "right"
  | "wordLeft"
  | "wordRight"
  | "up"
  | "down"
  | "home"
  | "end"
  | "killLine"
  | "killRest"
  | "interrupt"
  | "suspend"
  | "quit"
  | "complete"
  | "editor"
  | "search"
  | "clear"
  | "escape"
  | "endOfInput";

/** One key, letters that came together, or a paste whole. */
export type Key =
  | { readonly kind: "move"; readonly move: Move }
  | { readonly kind: "letters"; readonly text: string };

/** Asks a terminal to mark what is pasted, and not to. */
export const PASTE_MARKS = { on: "\x1b[?2004h", off: "\x1b[?2004l" } as const;

/**
 * Asks a terminal to tell Shift-Enter from Enter, and Esc from the beginning of a sequence: as kitty, foot, WezTerm,
 * Ghostty and others know it, and as xterm and tmux do. One that knows neither drops both.
 */
export const KEY_MARKS = { on: "\x1b[>1u\x1b[>4;1m", off: "\x1b[>4m\x1b[<u" } as const;

const PASTE_BEGIN = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** Begins a combination: with Ctrl-E it is the external editor, as in shells. */
const CTRL_X = "\x18";
/** A paste is held until its end: no more letters than a request may have. */
const MAX_PASTED = 200_000;

const CONTROL: ReadonlyMap<string, Move> = new Map([
  ["\x01", "home"],
  ["\x02", "left"],
  ["\x03", "interrupt"],
  ["\x04", "endOfInput"],
  ["\x05", "end"],
  ["\x06", "right"],
  ["\x07", "editor"],
  ["\x08", "back"],
  ["\t", "complete"],
  ["\n", "enter"],
  ["\x0b", "killRest"],
  ["\x0c", "clear"],
  ["\r", "enter"],
  ["\x0e", "down"],
  ["\x10", "up"],
  ["\x12", "search"],
  ["\x15", "killLine"],
  ["\x17", "backWord"],
  ["\x1a", "suspend"],
  ["\x1c", "quit"],
  ["\x7f", "back"],
]);

const ESCAPED: ReadonlyMap<string, Move> = new Map([
  ["\r", "newline"],
  ["\n", "newline"],
  ["b", "wordLeft"],
  ["f", "wordRight"],
  ["\x7f", "backWord"],
  ["[A", "up"],
  ["[B", "down"],
  ["[C", "right"],
  ["[D", "left"],
  ["[H", "home"],
  ["[F", "end"],
  ["OA", "up"],
  ["OB", "down"],
  ["OC", "right"],
  ["OD", "left"],
  ["OH", "home"],
  ["OF", "end"],
  ["[1~", "home"],
  ["[3~", "delete"],
  ["[4~", "end"],
  ["[7~", "home"],
  ["[8~", "end"],
  ["[1;3C", "wordRight"],
  ["[1;3D", "wordLeft"],
  ["[1;5C", "wordRight"],
  ["[1;5D", "wordLeft"],
]);

// deno-lint-ignore no-control-regex -- keys are control characters
const SEQUENCE = /^\x1b(\[[0-9;:?<=>]*[A-Za-z~]|O[A-Za-z]|[^[O])/;
// deno-lint-ignore no-control-regex -- keys are control characters
const BEGUN = /^\x1b(\[[0-9;:?<=>]{0,16}|O)?$/;
// deno-lint-ignore no-control-regex -- keys are control characters
const LETTERS = /^[^\x00-\x1f\x7f]+/;

/** What of a paste is text: lines end in `\n`, and no control character is left but that and the tab. */
function pasted(text: string): string {
  // deno-lint-ignore no-control-regex -- keys are control characters
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(/[\x00-\x08\x0b-\x1f\x7f]/g, "");
}

const SHIFT = 1;
const ALT = 2;
const CTRL = 4;
/** A key by its number, with what is held beside it: `[CODE;HELD u` of kitty, `[27;HELD;CODE~` of xterm. */
const NUMBERED = /^\[(?:(\d{1,7})(?::\d*)*(?:;(\d{1,3})(?::\d)?)?u|27;(\d{1,3});(\d{1,7})~)$/;

/** What a key told by its number does; undefined: nothing. */
function numbered(sequence: string): Key | undefined {
  const match = NUMBERED.exec(sequence);
  if (match === null) return undefined;
  const [, code, beside = "1", xtermBeside, xtermCode] = match;
  const point = Number(code ?? xtermCode);
  const held = Number(xtermBeside ?? beside) - 1;
  const named = (move: Move | undefined): Key | undefined =>
    move === undefined ? undefined : { kind: "move", move };
  if (point === 13) return named((held & (SHIFT | ALT | CTRL)) === 0 ? "enter" : "newline");
  if (point === 27) return named("escape");
  if (point > 0x10ffff) return undefined;
  const letter = String.fromCodePoint(point);
  // Ctrl-J is a row's end where the terminal tells it from Enter.
  if ((held & CTRL) !== 0 && letter === "j") return named("newline");
  if ((held & CTRL) !== 0 && /^[a-z\\]$/.test(letter)) {
    return named(CONTROL.get(String.fromCharCode(point & 0x1f)));
  }
  if ((held & ALT) !== 0) return named(ESCAPED.get(letter));
  if (point < 32 || point === 127) return named(CONTROL.get(letter));
  return (held & CTRL) === 0 ? { kind: "letters", text: letter } : undefined;
}

/**
 * Makes a reader of keys: what a read cut in two is whole with the next one. Called without bytes, when nothing came for
 * a while: an Esc that waited for the rest of a sequence is the key Esc.
 */
export function makeKeyReader(): (bytes?: Uint8Array) => Key[] {
  const decoder = new TextDecoder();
  let rest = "";
  let paste: string | undefined;

  function next(): Key | "nothing" | undefined {
    if (paste !== undefined) {
      const all = paste + rest;
      const end = all.indexOf(PASTE_END);
      if (end < 0) {
        // Its end may be cut in two: what could be its beginning waits, however much was left out before it.
        rest = all.slice(Math.max(0, all.length - PASTE_END.length + 1));
        paste = all.slice(0, all.length - rest.length).slice(0, MAX_PASTED);
        return undefined;
      }
      rest = all.slice(end + PASTE_END.length);
      paste = undefined;
      return { kind: "letters", text: pasted(all.slice(0, Math.min(end, MAX_PASTED))) };
    }
    if (rest.startsWith(PASTE_BEGIN)) {
      rest = rest.slice(PASTE_BEGIN.length);
      paste = "";
      return "nothing";
    }
    const letters = LETTERS.exec(rest)?.[0];
    if (letters !== undefined) {
      rest = rest.slice(letters.length);
      return { kind: "letters", text: letters };
    }
    const sequence = SEQUENCE.exec(rest);
    if (sequence !== null) {
      rest = rest.slice(sequence[0].length);
      const move = ESCAPED.get(sequence[1] ?? "");
      return move === undefined ? numbered(sequence[1] ?? "") ?? "nothing" : { kind: "move", move };
    }
    if (BEGUN.test(rest) || rest === "" || rest === CTRL_X) return undefined;
    if (rest.startsWith(`${CTRL_X}\x05`)) {
      rest = rest.slice(2);
      return { kind: "move", move: "editor" };
    }
    const move = CONTROL.get(rest.slice(0, 1));
    rest = rest.slice(1);
    return move === undefined ? "nothing" : { kind: "move", move };
  }

  return (bytes) => {
    if (bytes === undefined) {
      if (rest !== "\x1b" || paste !== undefined) return [];
      rest = "";
      return [{ kind: "move", move: "escape" }];
    }
    // The key Esc comes alone; its letter, when a person types on, is no Alt.
    const alone = rest === "\x1b";
    rest += decoder.decode(bytes, { stream: true });
    // deno-lint-ignore no-control-regex -- keys are control characters
    if (alone && /^\x1b[^[O\r\n\x7f]/.test(rest)) rest = rest.slice(1);
    const keys: Key[] = [];
    for (let key = next(); key !== undefined; key = next()) if (key !== "nothing") keys.push(key);
    return keys;
  };
}
