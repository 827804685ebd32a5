/** The keyboard of a terminal: one line at a time, edited in place. @module */
import type { Keyboard, LineOptions, Screen } from "../hands.ts";
import { beginLine, edit, type Editing, textOf } from "./line_edit.ts";
import { type Key, makeKeyReader, PASTE_MARKS } from "./line_keys.ts";
import { type Drawn, layOut, redraw, rewrite } from "./line_view.ts";
import { terminalSize, writeAll } from "../terminal/terminal_powers.ts";

const SETTLE_MS = 150;
/** Letters of an answer, and of a request. */
const MOST = 8_192;
const MOST_OF_MANY = 200_000;
/** Rows of a long paste that are shown at once. */
const MOST_ROWS = 12;
/** What was entered, for the arrow up. */
const MOST_PAST = 500;
const END_OF_INPUT: Key = { kind: "move", move: "endOfInput" };

const say = (text: string): void => writeAll(Deno.stderr, text);

/** Bytes of the keyboard, read always, so that what nobody asked for is thrown away. */
function startPump(): { take: (listener: ((bytes?: Uint8Array) => void) | undefined) => void } {
  let listener: ((bytes?: Uint8Array) => void) | undefined;
  let ended = false;
  const pump = async (): Promise<void> => {
    const buffer = new Uint8Array(4_096);
    for (;;) {
      const read = await Deno.stdin.read(buffer);
      if (read === null) break;
      listener?.(buffer.slice(0, read));
    }
    ended = true;
    listener?.();
  };
  void pump();
  return {
    take: (next) => {
      listener = next;
      if (ended) next?.();
    },
  };
}

/** Makes the keyboard, or undefined when nobody sits at this process. */
export function makeKeyboard(screen: Screen): Keyboard | undefined {
  if (!Deno.stdin.isTerminal() || !Deno.stderr.isTerminal()) return undefined;
  const dumb = Deno.env.get("TERM") === "dumb";
  const marks = (on: boolean): void =>
    dumb ? undefined : say(on ? PASTE_MARKS.on : PASTE_MARKS.off);
  let reading = false;
  let pump: ReturnType<typeof startPump> | undefined;
  let past: readonly string[] = [];
  globalThis.addEventListener("unload", () => {
    Deno.stdin.setRaw(false);
    if (reading) marks(false);
  });

  function read(prompt: string, options: LineOptions, hearing: {
    take: (listener: ((bytes?: Uint8Array) => void) | undefined) => void;
    interrupted: (listener: () => void) => void;
  }): Promise<string | undefined> {
    const { many = false, echo = true, signal } = options;
    const keys = makeKeyReader();
    return new Promise((resolve) => {
      let editing: Editing = beginLine(many ? past : []);
      let drawn: Drawn | undefined;
      let open = true;
      const draw = (): void => {
        const { columns, rows } = terminalSize();
        const most = Math.max(1, Math.min(MOST_ROWS, rows - 2));
        const line = echo ? editing.line : { letters: [], at: 0 };
        const next = layOut(prompt, line, { width: columns, most });
        say(dumb ? rewrite(drawn, next) : redraw(drawn, next, columns));
        drawn = next;
      };
      const end = (value: string | undefined): void => {
        if (!open) return;
        open = false;
        hearing.take(undefined);
        if (value !== undefined && editing.line.at < editing.line.letters.length) {
          editing = { ...editing, line: { ...editing.line, at: editing.line.letters.length } };
          draw();
        }
        if (reading) marks(false);
        reading = false;
        // At once: whoever ended this may write the next line.
        say("\n");
        resolve(value);
      };
      const press = (key: Key): void => {
        const edited = edit(editing, key, { many, most: many ? MOST_OF_MANY : MOST });
        if (edited.kind === "going") editing = edited.editing;
        else end(edited.kind === "entered" ? textOf(editing.line) : undefined);
      };
      draw();
      // Where a paste may be long. Behind the prompt, and away before its end: what stands on the terminal is plain text.
      reading = many;
      if (reading) marks(true);
      hearing.interrupted(() => {
        if (!open) return;
        press({ kind: "move", move: "interrupt" });
        if (open) draw();
      });
      signal?.addEventListener("abort", () => end(undefined), { once: true });
      if (signal?.aborted === true) end(undefined);
      hearing.take((bytes) => {
        for (const key of bytes === undefined ? [END_OF_INPUT] : keys(bytes)) if (open) press(key);
        if (bytes === undefined) end(undefined);
        if (open) draw();
      });
    });
  }

  return Object.freeze({
    async line(prompt: string, options: LineOptions = {}): Promise<string | undefined> {
      let early = false;
      let interrupted = (): void => {
        early = true;
      };
      const onSignal = (): void => interrupted();
      // Without a listener Ctrl-C would end the process and leave the terminal in this mode.
      Deno.addSignalListener("SIGINT", onSignal);
      // Leaving line mode hands over what was typed ahead; all of it until things settle is dropped.
      Deno.stdin.setRaw(true, { cbreak: true });
      pump ??= startPump();
      pump.take(undefined);
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      screen.hint("");
      const { take } = pump;
      const typed = early ? undefined : await read(prompt, options, {
        take,
        interrupted: (listener) => interrupted = listener,
      });
      if (early) say(`${prompt}\n`);
      Deno.removeSignalListener("SIGINT", onSignal);
      Deno.stdin.setRaw(false);
      const worth = options.many === true && typed !== undefined && typed.trim() !== "";
      if (worth && typed !== past.at(-1)) past = [...past, typed].slice(-MOST_PAST);
      return typed;
    },
  });
}
