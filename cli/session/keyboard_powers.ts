/** The keyboard of a terminal: reads one line at a time, edited in place. @module */
import type { AheadLine, AheadOptions, Keyboard, LineOptions, Screen } from "../powers.ts";
import { type AheadEditor, makeAheadEditor } from "./ahead_line.ts";
import {
  beginLine,
  completed,
  edit,
  type Editing,
  promptOf,
  textOf,
  withText,
} from "./line_edit.ts";
import { type Key, KEY_MARKS, makeKeyReader, PASTE_MARKS } from "./line_keys.ts";
import type { Drawn } from "../terminal/footer.ts";
import { hardWrap, inColumns } from "../terminal/columns.ts";
import { layOut, redraw, rewrite } from "./line_view.ts";
import { runInShell, runOnTerminal } from "./terminal_program_powers.ts";
import { terminalSize, writeAll } from "../terminal/terminal_powers.ts";

/** Keys that arrive this soon before a question are discarded: they were not meant for it. */
const SETTLE_MS = 150;
/** While a person types ahead, a question waits until the keys rest for this long, and takes none of them. */
const REST_MS = 400;
/** How often a status line is redrawn. */
const TICK_MS = 1_000;
/** Characters of an answer. */
const MAX_ANSWER = 8_192;
/** Characters of a request. */
const MAX_REQUEST = 200_000;
/** Rows of a long text that are visible at once. */
const MAX_ROWS = 12;
/** Earlier entries, for the arrow up. */
const MAX_PAST = 500;
const END_OF_INPUT: Key = { kind: "move", move: "endOfInput" };
/** How long to wait for SIGCONT after a stop before taking the terminal back without it. */
const STOP_MS = 100;
/** How long an Esc waits for the rest of a sequence before it counts as the Esc key. */
const ESC_MS = 80;
const ESC = 0x1b;
const CLEAR = "\x1b[2J\x1b[H";
/** Keys that a terminal in line mode turns into signals for the process group. */
const SIGNAL_KEYS: ReadonlyMap<string, Deno.Signal> = new Map([
  ["interrupt", "SIGINT"],
  ["suspend", "SIGTSTP"],
  ["quit", "SIGQUIT"],
]);

const say = (text: string): void => writeAll(Deno.stderr, text);

/** Reads the keyboard all the time; bytes without a listener are discarded. */
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

/** Makes the keyboard; undefined when standard input or error is no terminal. */
export function makeKeyboard(screen: Screen): Keyboard | undefined {
  if (!Deno.stdin.isTerminal() || !Deno.stderr.isTerminal()) return undefined;
  const kind = Deno.env.get("TERM") ?? "";
  const dumb = kind === "dumb";
  /** Consoles that might print control sequences that they do not know. */
  const plain = dumb || /^(?:linux|vt\d|cons)/.test(kind);
  let marked: "" | "paste" | "keys" = "";
  /** Requests marks for pastes; `keys` also tells Shift-Enter from Enter, which single lines do not need. */
  const mark = (on: typeof marked): void => {
    if (dumb || on === marked) return;
    if (marked === "keys" && !plain) say(KEY_MARKS.off);
    if (on === "") say(PASTE_MARKS.off);
    if (marked === "") say(PASTE_MARKS.on);
    if (on === "keys" && !plain) say(KEY_MARKS.on);
    marked = on;
  };
  let pump: ReturnType<typeof startPump> | undefined;
  let past: readonly string[] = [];
  /** The line under an answer, and whether a question covers it. */
  let ahead: { readonly editor: AheadEditor; covered: boolean } | undefined;
  globalThis.addEventListener("unload", () => {
    Deno.stdin.setRaw(false);
    mark("");
  });

  /**
   * Sends the signal of a key. While a line is read, the terminal does not do so itself: it would also take bytes of a
   * paste for such keys.
   */
  function raise(signal: Deno.Signal, resumed: () => void): void {
    if (signal !== "SIGINT") {
      mark("");
      Deno.stdin.setRaw(false);
    }
    Deno.kill(0, signal);
    // A process group without a shell is not stopped, so gets no SIGCONT either.
    if (signal === "SIGTSTP") setTimeout(resumed, STOP_MS);
  }

  function read(prompt: string, options: LineOptions, hearing: {
    take: (listener: ((bytes?: Uint8Array) => void) | undefined) => void;
    interrupted: (listener: () => void) => void;
    resumed: (listener: () => void) => void;
  }): Promise<string | undefined> {
    const { many = false, echo = true, signal } = options;
    const marks = many ? "keys" : "paste";
    const keys = makeKeyReader();
    return new Promise((resolve) => {
      let editing: Editing = beginLine(many ? options.past ?? past : []);
      if (options.draft !== undefined) editing = withText(editing, options.draft);
      /** Whether an external editor has the terminal. */
      let away = false;
      let drawn: Drawn | undefined;
      let open = true;
      const draw = (): void => {
        const { columns, rows } = terminalSize();
        const max = Math.max(1, Math.min(MAX_ROWS, rows - 2));
        const line = echo ? editing.line : { graphemes: [], at: 0 };
        const next = layOut(promptOf(prompt, editing), line, { width: columns, maxRows: max });
        say(dumb ? rewrite(drawn, next) : redraw(drawn, next, columns));
        drawn = next;
      };
      const end = (value: string | undefined): void => {
        if (!open) return;
        open = false;
        hearing.take(undefined);
        // Draw keys that came together with Enter, too.
        if (value !== undefined) {
          editing = { ...editing, line: { ...editing.line, at: editing.line.graphemes.length } };
          draw();
        }
        mark("");
        // Written at once: the caller may print the next line.
        say("\n");
        resolve(value);
      };
      const complete = (): void => {
        const found = completed(editing, options.complete);
        if (found.choices.length > 0) {
          editing = { ...editing, line: { ...editing.line, at: editing.line.graphemes.length } };
          draw();
          const { columns } = terminalSize();
          const shown = inColumns(found.choices, columns - 3);
          say(`\n${shown.flatMap((row) => hardWrap(`  ${row}`, columns - 1)).join("\n")}\n`);
          drawn = undefined;
        }
        editing = found.editing;
      };
      const openEditor = (open: NonNullable<LineOptions["editor"]>): void => {
        away = true;
        mark("");
        say("\n");
        const back = (text?: string): void => {
          if (text !== undefined) editing = withText(editing, text.slice(0, MAX_REQUEST));
          away = false;
          drawn = undefined;
          Deno.stdin.setRaw(true);
          hearing.take(listen);
          draw();
          mark(marks);
        };
        open(textOf(editing.line)).then(back, () => back());
      };
      const press = (key: Key): void => {
        if (key.kind === "move" && key.move === "complete") return complete();
        if (key.kind === "move" && key.move === "clear") {
          if (!dumb) say(CLEAR);
          drawn = undefined;
          return;
        }
        if (key.kind === "move" && key.move === "editor") {
          return options.editor === undefined ? undefined : openEditor(options.editor);
        }
        const edited = edit(editing, key, { many, max: many ? MAX_REQUEST : MAX_ANSWER });
        if (edited.kind === "going") editing = edited.editing;
        else end(edited.kind === "entered" ? textOf(editing.line) : undefined);
      };
      draw();
      // After the prompt, and off again before the line's end: the terminal's visible text stays plain.
      mark(marks);
      hearing.interrupted(() => {
        if (!open) return;
        press({ kind: "move", move: "interrupt" });
        if (open) draw();
      });
      const resumed = (): void => {
        if (!open) return;
        // The shell restored line mode, which echoes what is typed.
        Deno.stdin.setRaw(true);
        mark("");
        drawn = undefined;
        draw();
        mark(marks);
      };
      hearing.resumed(resumed);
      signal?.addEventListener("abort", () => end(undefined), { once: true });
      if (signal?.aborted === true) end(undefined);
      const listen = (bytes?: Uint8Array): void => {
        for (const key of bytes === undefined ? [END_OF_INPUT] : keys(bytes)) {
          const stops = key.kind === "move" && key.move === "interrupt" &&
            editing.sought !== undefined;
          const raised = key.kind === "move" && !stops ? SIGNAL_KEYS.get(key.move) : undefined;
          if (raised !== undefined) {
            raise(raised, resumed);
            // As a terminal does, drop the keys that came with it.
            break;
          }
          if (open) press(key);
        }
        if (bytes === undefined) end(undefined);
        if (open && !away) draw();
      };
      hearing.take(listen);
    });
  }

  /** Opens the line under an answer, for typing ahead. */
  function openAhead(options: AheadOptions): AheadLine {
    Deno.stdin.setRaw(true);
    pump ??= startPump();
    const { take } = pump;
    const uncovered = (): boolean => ahead !== undefined && !ahead.covered;
    const resumed = (): void => {
      if (!uncovered()) return;
      Deno.stdin.setRaw(true);
      ahead?.editor.draw();
    };
    const footer = (rows: Drawn | undefined): void => screen.footer?.(rows);
    const editor = makeAheadEditor({
      options: { ...options, past: options.past ?? past },
      size: terminalSize,
      footer,
      dim: screen.paint.dim,
      signal(move): void {
        const signal = SIGNAL_KEYS.get(move);
        if (signal === undefined) return;
        if (signal !== "SIGINT") footer(undefined);
        raise(signal, resumed);
      },
    });
    ahead = { editor, covered: false };
    take(listenAhead);
    Deno.addSignalListener("SIGCONT", resumed);
    Deno.addSignalListener("SIGWINCH", resumed);
    mark("keys");
    editor.draw();
    const tick = setInterval(() => uncovered() ? editor.draw() : undefined, TICK_MS);
    return Object.freeze<AheadLine>({
      redraw: () => uncovered() ? editor.draw() : undefined,
      close(): string {
        clearInterval(tick);
        Deno.removeSignalListener("SIGCONT", resumed);
        Deno.removeSignalListener("SIGWINCH", resumed);
        ahead = undefined;
        take(undefined);
        mark("");
        footer(undefined);
        Deno.stdin.setRaw(false);
        return editor.text();
      },
    });
  }

  let esc: ReturnType<typeof setTimeout> | undefined;
  function listenAhead(bytes?: Uint8Array): void {
    clearTimeout(esc);
    if (bytes !== undefined) ahead?.editor.take(bytes, ahead.covered === false);
    const under = ahead;
    if (bytes?.at(-1) !== ESC) return;
    // TIMER: a terminal sends the Esc key alone, but a sequence at once.
    esc = setTimeout(() => {
      if (ahead === under && under?.covered === false) under.editor.take(undefined, true);
    }, ESC_MS);
  }

  /**
   * Waits until the keys rest, before a question appears. Keys typed meanwhile go to the line under an answer, if one is
   * open (then the rest is longer, as the person is typing for that line), and are discarded otherwise.
   */
  async function settle(): Promise<void> {
    const under = ahead;
    let last = performance.now();
    const from = last;
    pump?.take((bytes) => {
      if (bytes === undefined) return;
      last = performance.now();
      if (under !== undefined) under.editor.take(bytes, false);
      else if (bytes.includes(3)) Deno.kill(0, "SIGINT");
    });
    for (;;) {
      const rest = last > from && under !== undefined ? last + REST_MS : from + SETTLE_MS;
      const now = performance.now();
      if (now >= rest) return;
      await new Promise((resolve) => setTimeout(resolve, rest - now));
    }
  }

  async function line(prompt: string, options: LineOptions = {}): Promise<string | undefined> {
    let early = false;
    let interrupted = (): void => {
      early = true;
    };
    const onSignal = (): void => interrupted();
    let resumed = (): void => Deno.stdin.setRaw(true);
    const onResume = (): void => resumed();
    // Without a listener Ctrl-C would end the process and leave the terminal in raw mode.
    Deno.addSignalListener("SIGINT", onSignal);
    Deno.addSignalListener("SIGCONT", onResume);
    // Leaving line mode delivers what was typed ahead: a question discards it, a line with a draft continues with it.
    Deno.stdin.setRaw(true);
    pump ??= startPump();
    const under = ahead;
    if (under !== undefined) {
      under.covered = true;
      mark("");
      screen.footer?.(undefined);
    }
    if (options.draft === undefined) await settle();
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
    if (under !== undefined && ahead === under) {
      under.covered = false;
      take(listenAhead);
      mark("keys");
      under.editor.draw();
      return typed;
    }
    Deno.stdin.setRaw(false);
    const worth = options.many === true && typed !== undefined && typed.trim() !== "";
    if (worth && typed !== past.at(-1)) past = [...past, typed].slice(-MAX_PAST);
    return typed;
  }

  return Object.freeze<Keyboard>({
    line,
    ...(dumb ? {} : { ahead: openAhead }),
    shell: runInShell,
    copy(text): void {
      say(`\x1b]52;c;${new TextEncoder().encode(text).toBase64()}\x07`);
    },
    async program(words): Promise<number> {
      pump ??= startPump();
      Deno.stdin.setRaw(true);
      try {
        return await runOnTerminal(words, { take: pump.take, size: terminalSize() });
      } finally {
        pump.take(undefined);
        Deno.stdin.setRaw(false);
      }
    },
  });
}
