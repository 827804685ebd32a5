/** The keyboard of a terminal: one line at a time, edited in place. @module */
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
import { runInShell } from "./shell_powers.ts";
import { runOnTerminal } from "./terminal_program_powers.ts";
import { terminalSize, writeAll } from "../terminal/terminal_powers.ts";

const SETTLE_MS = 150;
/** Of somebody who types already: a question waits until the keys rest for so long, and takes none of them. */
const REST_MS = 400;
/** How often a status line is drawn anew. */
const TICK_MS = 1_000;
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
/** How long an Esc waits for the rest of a sequence before it is the key. */
const ESC_MS = 80;
const ESC = 0x1b;
const CLEAR = "\x1b[2J\x1b[H";
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
  const kind = Deno.env.get("TERM") ?? "";
  const dumb = kind === "dumb";
  /** Consoles that might draw what they do not know. */
  const plain = dumb || /^(?:linux|vt\d|cons)/.test(kind);
  let marked: "" | "paste" | "keys" = "";
  /** `keys`: also tells Shift-Enter apart, which a question and a passphrase have no use for. */
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
  /** The line that is open under an answer, and whether a question stands in its place. */
  let ahead: { readonly editor: AheadEditor; covered: boolean } | undefined;
  globalThis.addEventListener("unload", () => {
    Deno.stdin.setRaw(false);
    mark("");
  });

  /**
   * Sends the signal that the terminal would have made of a key. While a line is read the terminal makes none itself:
   * it would make them of the bytes of a paste, too.
   */
  function raise(signal: Deno.Signal, resumed: () => void): void {
    if (signal !== "SIGINT") {
      mark("");
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
    const marks = many ? "keys" : "paste";
    const keys = makeKeyReader();
    return new Promise((resolve) => {
      let editing: Editing = beginLine(many ? options.past ?? past : []);
      if (options.draft !== undefined) editing = withText(editing, options.draft);
      /** An external editor has the terminal. */
      let away = false;
      let drawn: Drawn | undefined;
      let open = true;
      const draw = (): void => {
        const { columns, rows } = terminalSize();
        const most = Math.max(1, Math.min(MAX_ROWS, rows - 2));
        const line = echo ? editing.line : { letters: [], at: 0 };
        const next = layOut(promptOf(prompt, editing), line, { width: columns, most });
        say(dumb ? rewrite(drawn, next) : redraw(drawn, next, columns));
        drawn = next;
      };
      const end = (value: string | undefined): void => {
        if (!open) return;
        open = false;
        hearing.take(undefined);
        // Also what came with its Enter, at once, stands on the screen.
        if (value !== undefined) {
          editing = { ...editing, line: { ...editing.line, at: editing.line.letters.length } };
          draw();
        }
        mark("");
        // At once: whoever ended this may write the next line.
        say("\n");
        resolve(value);
      };
      const complete = (): void => {
        const found = completed(editing, options.complete);
        if (found.choices.length > 0) {
          editing = { ...editing, line: { ...editing.line, at: editing.line.letters.length } };
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
          if (text !== undefined) editing = withText(editing, text.slice(0, MAX_OF_MANY));
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
        const edited = edit(editing, key, { many, most: many ? MAX_OF_MANY : MAX });
        if (edited.kind === "going") editing = edited.editing;
        else end(edited.kind === "entered" ? textOf(editing.line) : undefined);
      };
      draw();
      // Behind the prompt, and away before its end: what stands on the terminal is plain text.
      mark(marks);
      hearing.interrupted(() => {
        if (!open) return;
        press({ kind: "move", move: "interrupt" });
        if (open) draw();
      });
      const resumed = (): void => {
        if (!open) return;
        // The shell has put back a mode of its own, in which it shows what is typed.
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
            // As a terminal does, what came with it is dropped.
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

  /** Opens the line under an answer. */
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
    // TIMER: a terminal sends the key alone, and a sequence at once.
    esc = setTimeout(() => {
      if (ahead === under && under?.covered === false) under.editor.take(undefined, true);
    }, ESC_MS);
  }

  /**
   * Waits until no key comes any more, before a question stands there. With a line open under an answer the keys are
   * that line's, so nothing is lost, and the rest is longer: whoever types on does not answer.
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
    // Without a listener Ctrl-C would end the process and leave the terminal in this mode.
    Deno.addSignalListener("SIGINT", onSignal);
    Deno.addSignalListener("SIGCONT", onResume);
    // Leaving line mode hands over what was typed ahead. No question takes it; a line with a draft goes on with it.
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
