/** The terminal: standard streams and Ctrl-C. For the keyboard see `session/keyboard_powers.ts`. @module */
import type { Interrupts, Screen } from "../powers.ts";
import { cutTo } from "./columns.ts";
import { type Drawn, inkedWrap, makeFooter } from "./footer.ts";
import { makePaint } from "./paint.ts";

const encoder = new TextEncoder();

/** Writes the whole text. */
export function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length;) at += stream.writeSync(bytes.subarray(at));
}

/** Writes to a stream; where its reader is gone, ends the process with 141, as SIGPIPE would. */
function writeOrEnd(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  try {
    writeAll(stream, text);
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) Deno.exit(141);
    throw error;
  }
}

const MIN_COLUMNS = 40;

/** The terminal's size now; 80 columns and 24 rows without a terminal. */
export function terminalSize(): { readonly columns: number; readonly rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    // A terminal without a size reports 0.
    return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
  } catch (error) {
    if (error instanceof Error) return { columns: 80, rows: 24 };
    throw error;
  }
}

function terminalWidth(): number {
  const given = Number(Deno.env.get("COLUMNS"));
  if (Number.isInteger(given) && given >= MIN_COLUMNS && given <= 500) return given;
  return Math.max(MIN_COLUMNS, Math.min(terminalSize().columns, 120));
}

/** Makes the screen of this process. */
export function makeScreen(): Screen {
  const terminal = Deno.stderr.isTerminal();
  const dumb = Deno.env.get("TERM") === "dumb";
  const colour = terminal && !dumb && (Deno.env.get("NO_COLOR") ?? "") === "";
  const paint = makePaint(colour);
  let hinted = "";
  const footer = makeFooter();
  let standing: Drawn | undefined;
  const shown = (line: string): string =>
    paint.dim(cutTo(line, Math.min(terminalWidth(), terminalSize().columns) - 1));
  const clear = (): void => {
    if (hinted !== "" && standing === undefined) writeAll(Deno.stderr, "\r\x1b[K");
    hinted = "";
  };
  const lift = (): void => {
    if (terminal) writeOrEnd(Deno.stderr, footer.lift(terminalSize().columns));
  };
  const put = (): void => {
    if (!terminal) return;
    const next = standing === undefined || hinted === "" ? standing : {
      rows: [shown(hinted), ...standing.rows],
      row: standing.row + 1,
      before: standing.before,
    };
    writeOrEnd(Deno.stderr, footer.put(next));
  };
  const onTerminal = Deno.stdout.isTerminal();
  return Object.freeze<Screen>({
    out(text: string): void {
      clear();
      if (onTerminal) lift();
      writeOrEnd(Deno.stdout, text);
      if (!onTerminal) return;
      footer.wrote(text);
      put();
    },
    say(line: string): void {
      clear();
      lift();
      // Output of a slash command must not continue an answer's row.
      const rows = terminal ? inkedWrap(line, terminalSize().columns).join("\n") : line;
      const text = `${standing !== undefined && footer.midway() ? "\n" : ""}${rows}\n`;
      writeOrEnd(Deno.stderr, text);
      footer.wrote(text);
      put();
    },
    hint(line: string): void {
      if (!terminal || dumb) return;
      if (standing !== undefined) {
        if (hinted === line) return;
        hinted = line;
        lift();
        return put();
      }
      clear();
      if (line === "") return;
      hinted = line;
      writeOrEnd(Deno.stderr, shown(line));
    },
    footer(next: Drawn | undefined): void {
      if (!terminal || dumb) return;
      if (standing === undefined) clear();
      lift();
      standing = next;
      if (next === undefined) hinted = "";
      put();
    },
    get rows(): number | undefined {
      return terminal ? terminalSize().rows : undefined;
    },
    paint,
    // Read each time: windows are resized during a session.
    get width(): number {
      return terminalWidth();
    },
    get outWidth(): number | undefined {
      return Deno.stdout.isTerminal() ? terminalWidth() : undefined;
    },
  });
}

const DEBOUNCE_MS = 300;
/** Allowance for signals delayed by a busy process: timers run before signals are delivered. */
const LATE_MS = 50;
/** Longest burst that counts as one press. */
const BURST_MS = 2_000;

/**
 * Makes the listener for Ctrl-C. Presses less than 300 ms apart count once (`deno task` doubles them), also when a busy
 * machine delivers them late; a burst lasts at most 2 s. The same holds for SIGTERM (`timeout` sends one to the process and
 * one to its group), which ends the task at once, like a second press.
 */
export function makeInterrupts(): Interrupts {
  return Object.freeze<Interrupts>({
    listen(press): () => void {
      let count = 0;
      const onSignal = oncePerBurst(() => press(count += 1));
      const onEnd = oncePerBurst(() => press(count = Math.max(2, count + 1), "SIGTERM"));
      Deno.addSignalListener("SIGINT", onSignal);
      Deno.addSignalListener("SIGTERM", onEnd);
      return () => {
        Deno.removeSignalListener("SIGINT", onSignal);
        Deno.removeSignalListener("SIGTERM", onEnd);
      };
    },
  });
}

function oncePerBurst(first: () => void): () => void {
  let heard = 0;
  let over = true;
  const later = (ms: number, then: () => void): void => Deno.unrefTimer(setTimeout(then, ms));
  return () => {
    const mine = ++heard;
    // The burst ends with the silence after its last signal.
    later(DEBOUNCE_MS, () => later(LATE_MS, () => over ||= mine === heard));
    if (!over) return;
    over = false;
    later(BURST_MS, () => over = true);
    first();
  };
}

/** Reads all of standard input as text. */
export async function readInput(): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of Deno.stdin.readable) chunks.push(chunk);
  return new TextDecoder().decode(await new Blob(chunks as BlobPart[]).arrayBuffer());
}
