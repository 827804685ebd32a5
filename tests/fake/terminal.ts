/** A person at a real terminal: a command over a pseudo-terminal that `script` (util-linux) makes. */

/** How long a screen may take to show something; long enough for a busy machine. */
const PATIENCE_MS = 40_000;

/** A command at a terminal. */
export interface Terminal {
  /** Everything that reached the terminal so far, escapes and all. */
  screen(): string;
  /** Types these bytes. */
  type(text: string): Promise<void>;
  /** Waits until `text` was shown `times` times since the start; gives the whole screen. */
  shows(text: string, times?: number): Promise<string>;
  /** The exit code of the command. */
  readonly done: Promise<number>;
  /** Ends the session, if it still stands. */
  close(): Promise<void>;
}

/** Starts `words` at a terminal of 100 columns. */
export function openTerminal(
  words: readonly string[],
  options: { readonly env: Readonly<Record<string, string>>; readonly cwd: string },
): Terminal {
  const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
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
  let ended = false;
  let changed = Promise.withResolvers<void>();
  const pump = (async (): Promise<void> => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      shown += text;
      changed.resolve();
      changed = Promise.withResolvers();
    }
    ended = true;
    changed.resolve();
  })();
  const done = child.status.then(async ({ code }) => {
    await pump;
    await keys.close().catch(() => undefined);
    return code;
  });
  return {
    screen: () => shown,
    type: (text) => keys.write(new TextEncoder().encode(text)),
    async shows(text, times = 1): Promise<string> {
      const late = Promise.withResolvers<void>();
      let over = false;
      // TIMER: a screen that never shows it must fail this test, and not hang it.
      const timer = setTimeout(() => {
        over = true;
        late.resolve();
      }, PATIENCE_MS);
      try {
        while (shown.split(text).length <= times) {
          if (over || ended) {
            throw new Error(`the terminal never showed ${JSON.stringify(text)}:\n${shown}`);
          }
          await Promise.race([changed.promise, late.promise]);
        }
        return shown;
      } finally {
        clearTimeout(timer);
      }
    },
    done,
    async close(): Promise<void> {
      if (!ended) child.kill("SIGKILL");
      await done;
    },
  };
}
