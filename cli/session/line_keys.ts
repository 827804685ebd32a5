/** Parses a terminal's bytes into keys: text, movements and pastes, wherever a read cuts them. @module */

/** A key that acts on a line. */
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

/** A key, text that came together, or a whole paste. */
export type Key =
  | { readonly kind: "move"; readonly move: Move }
  | { readonly kind: "text"; readonly text: string };

/** Switches marks around pastes on and off. */
export const PASTE_MARKS = { on: "\x1b[?2004h", off: "\x1b[?2004l" } as const;

/**
 * Lets a terminal tell Shift-Enter from Enter, and Esc from the start of a sequence, by the protocol of kitty, foot,
 * WezTerm, Ghostty and others and by that of xterm and tmux. A terminal that knows neither ignores both.
 */
export const KEY_MARKS = { on: "\x1b[>1u\x1b[>4;1m", off: "\x1b[>4m\x1b[<u" } as const;

const PASTE_BEGIN = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** Begins a combination: Ctrl-X Ctrl-E opens the external editor, as in shells. */
const CTRL_X = "\x18";
/** Most characters kept of a paste: as many as a request may have. */
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
const TEXT = /^[^\x00-\x1f\x7f]+/;

/** A paste as text: line ends become `\n`, and of the control characters only `\n` and the tab stay. */
function pasted(text: string): string {
  // deno-lint-ignore no-control-regex -- keys are control characters
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(/[\x00-\x08\x0b-\x1f\x7f]/g, "");
}

const SHIFT = 1;
const ALT = 2;
const CTRL = 4;
/** A key by number, with its modifiers: `[CODE;MODIFIERS u` of kitty, `[27;MODIFIERS;CODE~` of xterm. */
const NUMBERED = /^\[(?:(\d{1,7})(?::\d*)*(?:;(\d{1,3})(?::\d)?)?u|27;(\d{1,3});(\d{1,7})~)$/;

/** The key for a numbered sequence; undefined for one without effect. */
function numbered(sequence: string): Key | undefined {
  const match = NUMBERED.exec(sequence);
  if (match === null) return undefined;
  const [, code, modifiers = "1", xtermModifiers, xtermCode] = match;
  const point = Number(code ?? xtermCode);
  const held = Number(xtermModifiers ?? modifiers) - 1;
  const named = (move: Move | undefined): Key | undefined =>
    move === undefined ? undefined : { kind: "move", move };
  if (point === 13) return named((held & (SHIFT | ALT | CTRL)) === 0 ? "enter" : "newline");
  if (point === 27) return named("escape");
  if (point > 0x10ffff) return undefined;
  const letter = String.fromCodePoint(point);
  // Ctrl-J starts a new row where the terminal tells it from Enter.
  if ((held & CTRL) !== 0 && letter === "j") return named("newline");
  if ((held & CTRL) !== 0 && /^[a-z\\]$/.test(letter)) {
    return named(CONTROL.get(String.fromCharCode(point & 0x1f)));
  }
  if ((held & ALT) !== 0) return named(ESCAPED.get(letter));
  if (point < 32 || point === 127) return named(CONTROL.get(letter));
  return (held & CTRL) === 0 ? { kind: "text", text: letter } : undefined;
}

/**
 * Makes a reader of keys: a sequence cut by a read completes with the next read. A call without bytes, after a pause,
 * turns an Esc that waited for the rest of a sequence into the Esc key.
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
        // The end mark may be cut by the read: keep what could be its beginning, even past the limit.
        rest = all.slice(Math.max(0, all.length - PASTE_END.length + 1));
        paste = all.slice(0, all.length - rest.length).slice(0, MAX_PASTED);
        return undefined;
      }
      rest = all.slice(end + PASTE_END.length);
      paste = undefined;
      return { kind: "text", text: pasted(all.slice(0, Math.min(end, MAX_PASTED))) };
    }
    if (rest.startsWith(PASTE_BEGIN)) {
      rest = rest.slice(PASTE_BEGIN.length);
      paste = "";
      return "nothing";
    }
    const run = TEXT.exec(rest)?.[0];
    if (run !== undefined) {
      rest = rest.slice(run.length);
      return { kind: "text", text: run };
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
    // Esc came alone, so text after it is no Alt combination.
    const alone = rest === "\x1b";
    rest += decoder.decode(bytes, { stream: true });
    // deno-lint-ignore no-control-regex -- keys are control characters
    if (alone && /^\x1b[^[O\r\n\x7f]/.test(rest)) rest = rest.slice(1);
    const keys: Key[] = [];
    for (let key = next(); key !== undefined; key = next()) if (key !== "nothing") keys.push(key);
    return keys;
  };
}
