/** The keyboard of a terminal: one line at a time, edited in place. @module */
import type { Keyboard, LineOptions, Screen } from "../hands.ts";
import { beginLine, edit, type Editing, textOf } from "./line_edit.ts";
import { type Key, makeKeyReader, PASTE_MARKS } from "./line_keys.ts";
import { type Drawn, layOut, redraw, rewrite } from "./line_view.ts";
import { terminalSize, writeAll } from "../terminal/terminal_powers.ts";

const SETTLE_MS = 150;
/** Letters of an answer, and of a request. */
const MAX = 8_192;
const MAX_OF_MANY = 200_000;
/** Rows of a long paste that are shown at once. */
const MAX_ROWS = 12;
/** What was entered, for the arrow up. */
const MAX_PAST = 500;
const END_OF_INPUT: Key = { kind: "move", move: "endOfInput" };
/** How long a stop may take to reach this process before the terminal is taken back without one. */
const STOP_MS = 100;
/** Keys that a terminal in its usual mode turns into signals for the whole process group. */
const SIGNAL_KEYS: ReadonlyMap<string, Deno.Signal> = new Map([
  ["interrupt", "SIGINT"],
  ["suspend", "SIGTSTP"],
  ["quit", "SIGQUIT"],
]);

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
  let marked = false;
  const mark = (on: boolean): void => {
    if (on !== marked) marks(on);
    marked = on;
  };
  let pump: ReturnType<typeof startPump> | undefined;
  let past: readonly string[] = [];
  globalThis.addEventListener("unload", () => {
    Deno.stdin.setRaw(false);
    mark(false);
  });

  /**
   * Sends the signal that the terminal would have made of a key. While a line is read the terminal makes none itself:
   * it would make them of the bytes of a paste, too.
   */
  function raise(signal: Deno.Signal, resumed: () => void): void {
    if (signal !== "SIGINT") {
      mark(false);
      Deno.stdin.setRaw(false);
    }
    Deno.kill(0, signal);
    // A process group without a shell is not stopped, and gets no SIGCONT either.
    if (signal === "SIGTSTP") setTimeout(resumed, STOP_MS);
  }

  function read(prompt: string, options: LineOptions, hearing: {
    take: (listener: ((bytes?: Uint8Array) => void) | undefined) => void;
    interrupted: (listener: () => void) => void;
    resumed: (listener: () => void) => void;
  }): Promise<string | undefined> {
    const { many = false, echo = true, signal } = options;
    const keys = makeKeyReader();
    return new Promise((resolve) => {
      let editing: Editing = beginLine(many ? past : []);
      let drawn: Drawn | undefined;
      let open = true;
      const draw = (): void => {
        const { columns, rows } = terminalSize();
        const most = Math.max(1, Math.min(MAX_ROWS, rows - 2));
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
        mark(false);
        // At once: whoever ended this may write the next line.
        say("\n");
        resolve(value);
      };
      const press = (key: Key): void => {
        const edited = edit(editing, key, { many, most: many ? MAX_OF_MANY : MAX });
        if (edited.kind === "going") editing = edited.editing;
        else end(edited.kind === "entered" ? textOf(editing.line) : undefined);
      };
      draw();
      // Behind the prompt, and away before its end: what stands on the terminal is plain text.
      mark(true);
      hearing.interrupted(() => {
        if (!open) return;
        press({ kind: "move", move: "interrupt" });
        if (open) draw();
      });
      const resumed = (): void => {
        if (!open) return;
        // The shell has put back a mode of its own, in which it shows what is typed.
        Deno.stdin.setRaw(true);
        mark(false);
        drawn = undefined;
        draw();
        mark(true);
      };
      hearing.resumed(resumed);
      signal?.addEventListener("abort", () => end(undefined), { once: true });
      if (signal?.aborted === true) end(undefined);
      hearing.take((bytes) => {
        for (const key of bytes === undefined ? [END_OF_INPUT] : keys(bytes)) {
          const raised = key.kind === "move" ? SIGNAL_KEYS.get(key.move) : undefined;
          if (raised !== undefined) {
            raise(raised, resumed);
            // As a terminal does, what came with it is dropped.
            break;
          }
          if (open) press(key);
        }
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
      let resumed = (): void => Deno.stdin.setRaw(true);
      const onResume = (): void => resumed();
      // Without a listener Ctrl-C would end the process and leave the terminal in this mode.
      Deno.addSignalListener("SIGINT", onSignal);
      Deno.addSignalListener("SIGCONT", onResume);
      // Leaving line mode hands over what was typed ahead; all of it until things settle is dropped, but for Ctrl-C.
      Deno.stdin.setRaw(true);
      pump ??= startPump();
      pump.take((bytes) => bytes?.includes(3) === true ? Deno.kill(0, "SIGINT") : undefined);
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      screen.hint("");
      const { take } = pump;
      const typed = early ? undefined : await read(prompt, options, {
        take,
        interrupted: (listener) => interrupted = listener,
        resumed: (listener) => resumed = listener,
      });
      if (early) say(`${prompt}\n`);
      Deno.removeSignalListener("SIGINT", onSignal);
      Deno.removeSignalListener("SIGCONT", onResume);
      Deno.stdin.setRaw(false);
      const worth = options.many === true && typed !== undefined && typed.trim() !== "";
      if (worth && typed !== past.at(-1)) past = [...past, typed].slice(-MAX_PAST);
      return typed;
    },
  });
}
