/** A person at a real terminal: a command over a pseudo-terminal that `script` (util-linux) makes. */
import { shellLine } from "../../text/shell.ts";

/** Maximum time until a screen shows a text; long enough for a busy machine. */
const PATIENCE_MS = 600_000;

/** A command at a terminal. */
export interface Terminal {
  /** Everything that reached the terminal so far, escape sequences included. */
  screen(): string;
  /** Whether the command has ended. */
  over(): boolean;
  /** Types these bytes. */
  type(text: string): Promise<void>;
  /** Waits until `text` was shown `times` times since the start; gives the whole screen. */
  shows(text: string | RegExp, times?: number): Promise<string>;
  /** Waits for the end; gives the exit code of the command. */
  ended(): Promise<number>;
  /** Ends the session, if it still runs. */
  close(): Promise<void>;
}

/** The text with lines that were broken between words joined again. */
function joined(screen: string): string {
  return screen.replaceAll(/\r?\n {2,8}(?=\S)/g, " ");
}

/** Starts `words` at a terminal of 100 columns. */
export function openTerminal(
  words: readonly string[],
  options: { readonly env: Readonly<Record<string, string>>; readonly cwd: string },
): Terminal {
  const line = shellLine(words);
  const child = new Deno.Command("script", {
    args: ["-qec", `stty cols 100 rows 50; exec ${line}`, "/dev/null"],
    cwd: options.cwd,
    clearEnv: true,
    env: { TERM: "xterm", ...options.env, SHELL: "/bin/sh" },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const keys = child.stdin.getWriter();
  let shown = "";
  let over = false;
  let changed = Promise.withResolvers<void>();
  const pump = (async (): Promise<void> => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      shown += text;
      changed.resolve();
      changed = Promise.withResolvers();
    }
    over = true;
    changed.resolve();
  })();
  /** Waits for `reached`, which is checked at every change of the screen; else fails with the screen. */
  const until = async (what: string, reached: () => boolean): Promise<void> => {
    let late = false;
    // TIMER: an event that never comes must fail this test, and not hang it.
    const timer = setTimeout(() => {
      late = true;
      changed.resolve();
    }, PATIENCE_MS);
    try {
      while (!reached()) {
        if (late || over) throw new Error(`the terminal never ${what}:\n${shown}`);
        await changed.promise;
      }
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    screen: () => shown,
    over: () => over,
    async type(text): Promise<void> {
      try {
        await keys.write(new TextEncoder().encode(text));
      } catch (error) {
        // Nothing reads input of a session that has ended.
        if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
      }
    },
    async shows(text, times = 1): Promise<string> {
      await until(
        `showed ${String(text)}`,
        () => [shown, joined(shown)].some((all) => all.split(text).length > times),
      );
      return shown;
    },
    async ended(): Promise<number> {
      await until("ended", () => over);
      return (await child.status).code;
    },
    async close(): Promise<void> {
      if (!over) child.kill("SIGKILL");
      await pump;
      await keys.close().catch(() => undefined);
    },
  };
}
