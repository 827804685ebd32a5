/**
 * How a program is begun that goes on after its call, inside its walls. Every text that a shell reads
 * is one of the constants here: a program and its words are given as words, never put into a text.
 * @module
 */
import type { TerminalSize } from "../../contracts/mod.ts";
import { type Begun, SIGNALS } from "../start/command_line.ts";

/**
 * Hands signals on to the program's group, by a process of which the program is not the parent: a
 * program that waits for all its children must not wait for this one. `$$` is the program, later.
 */
const LISTEN = `( ( trap '' HUP INT QUIT TERM USR1 USR2; ` +
  `while read -r s; do kill -s "$s" -- "-$$"; done ) <${SIGNALS} >/dev/null 2>&1 & )`;

const PLAIN = `${LISTEN}; exec "$@"`;

/** `script` runs a text in a shell of its own and takes no words: they come as variables. */
const TERMINAL = `set --; i=0; while [ "$i" -lt "$REMIT_WORDS" ]; do ` +
  `eval "set -- \\"\\$@\\" \\"\\$REMIT_WORD_$i\\""; unset "REMIT_WORD_$i"; i=$((i+1)); done; ` +
  `stty rows "$REMIT_ROWS" cols "$REMIT_COLUMNS" 2>/dev/null; ` +
  `unset REMIT_WORDS REMIT_ROWS REMIT_COLUMNS i; ${LISTEN}; exec "$@"`;

/** What begins `words`, whose first is the program's path; `signals`: the pipe, on the machine. */
export function begunAs(
  words: readonly string[],
  { signals, terminal }: { readonly signals: string; readonly terminal?: TerminalSize | undefined },
): Begun {
  if (terminal === undefined) {
    return { signals, words: ["/bin/sh", "-c", PLAIN, "remit", ...words], env: {} };
  }
  return {
    signals,
    // Quiet, flushed at once, with the program's own exit code, and with no record of it.
    words: ["/usr/bin/script", "-q", "-f", "-e", "-c", TERMINAL, "/dev/null"],
    env: {
      // INVARIANT: whatever a call sets, this shell is the one that reads the constant.
      SHELL: "/bin/sh",
      REMIT_ROWS: String(terminal.rows),
      REMIT_COLUMNS: String(terminal.columns),
      REMIT_WORDS: String(words.length),
      ...Object.fromEntries(words.map((word, at) => [`REMIT_WORD_${at}`, word])),
    },
  };
}
