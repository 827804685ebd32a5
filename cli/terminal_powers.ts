/** The terminal: standard streams, the keyboard, Ctrl-C. @module */
import type { Interrupts, Keyboard, Screen } from "./hands.ts";
import { cutTo } from "./columns.ts";
import { makePaint } from "./paint.ts";

const encoder = new TextEncoder();

function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length;) at += stream.writeSync(bytes.subarray(at));
}

/** Writes to a stream whose reader may have gone: then the process ends with 141, as SIGPIPE does. */
function writeOrEnd(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  try {
    writeAll(stream, text);
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) Deno.exit(141);
    throw error;
  }
}

function terminalWidth(): number {
  const given = Number(Deno.env.get("COLUMNS"));
  if (Number.isInteger(given) && given >= 40 && given <= 500) return given;
  try {
    const { columns } = Deno.consoleSize();
    return columns >= 40 ? Math.min(columns, 120) : 80;
  } catch (error) {
    if (error instanceof Error) return 80;
    throw error;
  }
}

/** Makes the screen of this process. */
export function makeScreen(): Screen {
  const terminal = Deno.stderr.isTerminal();
  const width = terminalWidth();
  const dumb = Deno.env.get("TERM") === "dumb";
  const colour = terminal && !dumb && (Deno.env.get("NO_COLOR") ?? "") === "";
  const paint = makePaint(colour);
  let hinted = false;
  const clear = (): void => {
    if (!hinted) return;
    hinted = false;
    writeAll(Deno.stderr, "\r\x1b[K");
  };
  return Object.freeze({
    out(text: string): void {
      clear();
      writeOrEnd(Deno.stdout, text);
    },
    say(line: string): void {
      clear();
      writeOrEnd(Deno.stderr, `${line}\n`);
    },
    hint(line: string): void {
      if (!terminal || dumb) return;
      clear();
      if (line === "") return;
      hinted = true;
      writeOrEnd(Deno.stderr, paint.dim(cutTo(line, width - 1)));
    },
    paint,
    width,
    ...(Deno.stdout.isTerminal() ? { outWidth: width } : {}),
  });
}

const SETTLE_MS = 150;
const INTERRUPTED = 3;
const END = 4;
const BACKSPACES = [8, 127];
const NEWLINES = [10, 13];

/** Bytes of the keyboard, read always, so that what nobody asked for is thrown away. */
function startPump(): { take: (listener: ((bytes: Uint8Array) => void) | undefined) => void } {
  let listener: ((bytes: Uint8Array) => void) | undefined;
  const pump = async (): Promise<void> => {
    const buffer = new Uint8Array(4_096);
    for (;;) {
      const read = await Deno.stdin.read(buffer);
      if (read === null) break;
      listener?.(buffer.slice(0, read));
    }
    listener?.(Uint8Array.of(END));
  };
  void pump();
  return { take: (next) => listener = next };
}

/** Makes the keyboard, or undefined when nobody sits at this process. */
export function makeKeyboard(screen: Screen): Keyboard | undefined {
  if (!Deno.stdin.isTerminal() || !Deno.stderr.isTerminal()) return undefined;
  let pump: ReturnType<typeof startPump> | undefined;
  globalThis.addEventListener("unload", () => Deno.stdin.setRaw(false));
  return Object.freeze({
    async line(
      prompt: string,
      options?: { readonly echo?: boolean; readonly signal?: AbortSignal },
    ): Promise<string | undefined> {
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
      writeAll(Deno.stderr, prompt);
      const take = pump.take;
      const typed = await new Promise<string | undefined>((resolve) => {
        let bytes: number[] = [];
        let open = true;
        const end = (value: string | undefined): void => {
          if (!open) return;
          open = false;
          take(undefined);
          // At once: whoever ended this may write the next line.
          writeAll(Deno.stderr, "\n");
          resolve(value);
        };
        interrupted = () => end(undefined);
        if (early) end(undefined);
        options?.signal?.addEventListener("abort", () => end(undefined), { once: true });
        if (options?.signal?.aborted === true) end(undefined);
        take((chunk) => {
          for (const byte of chunk) {
            if (NEWLINES.includes(byte)) {
              return end(new TextDecoder().decode(Uint8Array.from(bytes)));
            }
            if (byte === INTERRUPTED || (byte === END && bytes.length === 0)) return end(undefined);
            if (BACKSPACES.includes(byte)) {
              // One letter may be several bytes: drop its continuation bytes too.
              const before = bytes.length;
              while (bytes.length > 0 && ((bytes.at(-1) ?? 0) & 0xc0) === 0x80) bytes.pop();
              bytes.pop();
              if (before > 0 && options?.echo !== false) writeAll(Deno.stderr, "\b \b");
            } else if (byte === 21) {
              bytes = [];
              if (options?.echo !== false) writeAll(Deno.stderr, `\r\x1b[K${prompt}`);
            } else if (byte >= 32 && bytes.length < 8_192) {
              bytes.push(byte);
              if (options?.echo !== false) Deno.stderr.writeSync(Uint8Array.of(byte));
            }
          }
        });
      });
      Deno.removeSignalListener("SIGINT", onSignal);
      Deno.stdin.setRaw(false);
      return typed;
    },
  });
}

const DEBOUNCE_MS = 300;
/** For presses that waited while this process was held up: timers run before signals are heard. */
const LATE_MS = 50;
/** A burst is one press for no longer: whoever keeps pressing means it. */
const BURST_MS = 2_000;

/**
 * Makes the listener for Ctrl-C: presses with less than 300 ms between them count once (`deno task` doubles them), also
 * when a busy machine delivers them later; a burst lasts at most 2 s. SIGTERM ends at once, as the second press does.
 */
export function makeInterrupts(): Interrupts {
  return Object.freeze({
    listen(press: (count: number) => void): () => void {
      let count = 0;
      let heard = 0;
      let over = true;
      const later = (ms: number, then: () => void): void => Deno.unrefTimer(setTimeout(then, ms));
      const onSignal = (): void => {
        const mine = ++heard;
        // Ends with the silence after its last press.
        later(DEBOUNCE_MS, () => later(LATE_MS, () => over ||= mine === heard));
        if (!over) return;
        over = false;
        later(BURST_MS, () => over = true);
        count += 1;
        press(count);
      };
      const onEnd = (): void => press(2);
      Deno.addSignalListener("SIGINT", onSignal);
      Deno.addSignalListener("SIGTERM", onEnd);
      return () => {
        Deno.removeSignalListener("SIGINT", onSignal);
        Deno.removeSignalListener("SIGTERM", onEnd);
      };
    },
  });
}

/** Reads all of standard input as text. */
export async function readInput(): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of Deno.stdin.readable) chunks.push(chunk);
  return new TextDecoder().decode(await new Blob(chunks as BlobPart[]).arrayBuffer());
}
