/** A person in front of tmux: the screen shows what a terminal made of the bytes, not the bytes. */
import { shellLine } from "../../text/shell.ts";

/** Maximum time until a screen shows a text; long enough for a busy machine. */
const PATIENCE_MS = 300_000;

/** A command in a window of tmux. */
export interface TmuxScreen {
  /** Types a text unchanged. */
  type(text: string): Promise<void>;
  /** Presses keys by tmux's names: Enter, Up, Tab, C-c. */
  press(...keys: readonly string[]): Promise<void>;
  /** The rows on the screen now. */
  rows(): Promise<readonly string[]>;
  /** All rows, first those scrolled off the top. */
  all(): Promise<string>;
  /** The same with its colours, as SGR sequences. */
  painted(): Promise<string>;
  /** Waits until the screen shows `text`, or the predicate holds; gives all rows. */
  shows(text: string | RegExp | ((rows: readonly string[]) => boolean)): Promise<string>;
  close(): Promise<void>;
}

/** Starts `words` in a window of this size, on a server of its own. */
export async function openTmux(
  words: readonly string[],
  options: {
    readonly env: Readonly<Record<string, string>>;
    readonly cwd: string;
    readonly columns?: number;
    readonly rows?: number;
  },
): Promise<TmuxScreen> {
  const socket = await Deno.makeTempDir({ prefix: "remit-tmux-" });
  const base = ["-f", "/dev/null", "-S", `${socket}/socket`];
  const env = { ...options.env, TERM: "xterm-256color", SHELL: "/bin/sh", LANG: "C.UTF-8" };
  const run = async (args: readonly string[]): Promise<string> => {
    const done = await new Deno.Command("tmux", {
      args: [...base, ...args],
      ...{ cwd: options.cwd, clearEnv: true, env },
    }).output();
    if (done.success) return new TextDecoder().decode(done.stdout);
    throw new Error(`tmux ${args.join(" ")}: ${new TextDecoder().decode(done.stderr)}`);
  };
  const line = shellLine(words);
  await run([
    ...["new-session", "-d", "-x", String(options.columns ?? 80), "-y", String(options.rows ?? 24)],
    `${line}; echo "ENDED $?"; exec sleep 1000000`,
  ]);
  await run(["set-option", "-g", "history-limit", "20000"]);
  // In control mode tmux reports each output: the screen is checked after each.
  const watcher = new Deno.Command("tmux", {
    args: [...base, "-C", "attach-session", "-f", "ignore-size,read-only"],
    ...{ cwd: options.cwd, clearEnv: true, env },
    ...{ stdin: "piped", stdout: "piped", stderr: "null" },
  }).spawn();
  let changed = Promise.withResolvers<void>();
  const pump = (async (): Promise<void> => {
    for await (const _ of watcher.stdout) {
      changed.resolve();
      changed = Promise.withResolvers();
    }
  })();
  const rows = async (): Promise<readonly string[]> =>
    (await run(["capture-pane", "-p"])).replace(/\n+$/, "").split("\n");
  const all = async (): Promise<string> => await run(["capture-pane", "-p", "-S", "-"]);
  return {
    rows,
    all,
    painted: () => run(["capture-pane", "-e", "-p", "-S", "-"]),
    type: async (text) => void await run(["send-keys", "-l", "--", text]),
    press: async (...keys) => void await run(["send-keys", ...keys]),
    async shows(text): Promise<string> {
      const isThere = (now: readonly string[]): boolean => {
        if (typeof text === "function") return text(now);
        const joined = now.join("\n");
        return typeof text === "string" ? joined.includes(text) : text.test(joined);
      };
      let late = false;
      // TIMER: an event that never comes must fail this test, and not hang it.
      const timer = setTimeout(() => {
        late = true;
        changed.resolve();
      }, PATIENCE_MS);
      try {
        for (;;) {
          const next = changed.promise;
          if (isThere(await rows())) return await all();
          if (late) throw new Error(`the screen never showed ${String(text)}:\n${await all()}`);
          await next;
        }
      } finally {
        clearTimeout(timer);
      }
    },
    async close(): Promise<void> {
      await run(["kill-server"]);
      await watcher.stdin.close().catch(() => undefined);
      await pump.catch(() => undefined);
      await watcher.status;
      await Deno.remove(socket, { recursive: true });
    },
  };
}
