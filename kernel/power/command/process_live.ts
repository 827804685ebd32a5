/** A running program of a session, as its owner uses it. Used by process_sessions.ts and process_room.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { SESSION_BUFFER, SESSION_INPUT } from "../../../contracts/tool/process_session.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { SessionOutput, SessionSignal, SessionState } from "../../../contracts/tool/mod.ts";
import { makeOutput, makeTerminalText } from "./process_output.ts";
import type { LongRunPowers } from "./process_powers.ts";
import type { ExitStatus } from "../../core/start/spawn.ts";
import type { StartLine } from "../../core/start/line_parts.ts";

/** Milliseconds that outputs of an ended program may stay open. */
const LATE_MS = 1_000;
/** Milliseconds of silence that end a poll, and of collecting output in all, so that pieces come together. */
const QUIET_MS = 25, SETTLE_MS = 250;
/** Milliseconds that a write waits until the program reads. */
const WRITE_MS = 50;
/** Signals to a session, at most: they all fit into the smallest pipe, read or not. */
const MAX_SIGNALS = 500;

/** Options of a poll. */
export interface PollOptions {
  readonly waitMs: number;
  readonly bytes: number;
  readonly newest: boolean;
}

/** The result of a poll, without colour and label. */
export type PolledOutput = Omit<SessionOutput, "colour" | "label">;

/** A program that outlives its call. */
export interface LiveProgram {
  readonly pid: number;
  /** Reads new output. Rejects with `cancelled`. */
  poll(options: PollOptions, signal: AbortSignal): Promise<PolledOutput>;
  /** Writes input. Rejects with `gone`, `conflict`, `tooLarge`. */
  write(text: string, end: boolean): Promise<SessionState & { readonly unread: number }>;
  /** Rejects with `gone`, `rateLimited`. */
  signal(signal: SessionSignal): Promise<SessionState>;
  /** Kills the program with all its children; `why` becomes the reason if it was running. Idempotent. */
  kill(why: string): void;
  /** Like {@link kill}; resolves once the program is gone and its last output can be polled. */
  end(why: string): Promise<void>;
  /** Resolves once the program is gone. */
  readonly ended: Promise<void>;
}

/** Starts a program. */
export function beginProgram(
  line: StartLine & { readonly signals: string },
  parts: {
    readonly name: string;
    readonly terminal: boolean;
    readonly programs: LongRunPowers;
    readonly powers: Pick<Powers, "now" | "after">;
  },
): LiveProgram {
  const { name, powers } = parts;
  const out = makeOutput(SESSION_BUFFER, parts.terminal ? terminalBytes() : undefined);
  const errors = makeOutput(SESSION_BUFFER);
  const waiting = new Set<() => void>();
  let exit: number | undefined, why: string | undefined;
  let killed = false, closed = false;
  let unread = 0, signals = 0;

  const wake = (): void => {
    for (const go of [...waiting]) go();
  };
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => void powers.after(ms, resolve));
  /** Resolves on new output, after `ms` milliseconds, or when the call is cancelled. */
  const news = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const go = (): void => {
        waiting.delete(go);
        signal.removeEventListener("abort", go);
        cancel();
        resolve();
      };
      const cancel = powers.after(ms, go);
      waiting.add(go);
      signal.addEventListener("abort", go, { once: true });
    });

  const program = parts.programs.begin({
    ...line,
    onOutput(chunk) {
      const room = out.hear(chunk);
      wake();
      return room;
    },
    onErrors(chunk) {
      const room = errors.hear(chunk);
      wake();
      return room;
    },
  });
  const ended = (async (): Promise<void> => {
    const status = await program.ended;
    out.release();
    errors.release();
    // INVARIANT: namespaces end with their process 1; a pipe that stays open nevertheless must not hold up the task.
    await Promise.race([program.heard, pause(LATE_MS)]);
    exit = codeOf(status);
    if (!killed) why = undefined;
    wake();
  })();

  const stateNow = (): SessionState =>
    exit === undefined
      ? { state: "running" }
      : { state: "exited", exit, ...(why === undefined ? {} : { why }) };
  const running = (): void => {
    if (exit === undefined) return;
    throw new Fault("gone", `Cannot reach ${name}: it has exited (${exit}); poll or close it`);
  };
  const kill = (reason: string): void => {
    if (killed || exit !== undefined) return;
    killed = true;
    why = reason;
    program.kill();
  };
  const fresh = (): number => out.waiting() + errors.waiting();

  return Object.freeze({
    pid: program.pid,
    ended,
    kill,
    async poll({ waitMs, bytes, newest }: PollOptions, signal: AbortSignal): Promise<PolledOutput> {
      const until = powers.now() + waitMs;
      const left = (): number => until - powers.now();
      const open = (): boolean => exit === undefined && !signal.aborted;
      while (fresh() === 0 && open() && left() > 0) await news(left(), signal);
      const settled = Math.min(until, powers.now() + SETTLE_MS);
      for (let seen = -1; open() && seen !== fresh() && powers.now() < settled;) {
        seen = fresh();
        await news(Math.min(QUIET_MS, settled - powers.now()), signal);
      }
      if (signal.aborted) throw new Fault("cancelled", `Cannot poll ${name}: cancelled`);
      const [first, second] = [out.take(bytes, newest), errors.take(bytes, newest)];
      return {
        ...stateNow(),
        ...{ stdout: first.text, stderr: second.text, more: fresh() > 0 },
        dropped: first.dropped + second.dropped,
      };
    },
    async write(text: string, end: boolean): Promise<SessionState & { readonly unread: number }> {
      running();
      if (closed) throw new Fault("conflict", `Cannot write to ${name}: its input was ended`);
      const bytes = new TextEncoder().encode(text);
      if (unread + bytes.length > SESSION_INPUT) {
        throw new Fault(
          "tooLarge",
          `Cannot write to ${name}: it has not read ${unread} bytes of what it was given before`,
        );
      }
      unread += bytes.length;
      const taken = program.write(bytes).then(() => {
        unread -= bytes.length;
      });
      if (end) {
        closed = true;
        program.endInput();
      }
      await Promise.race([taken, pause(WRITE_MS)]);
      return { ...stateNow(), unread };
    },
    async signal(signal: SessionSignal): Promise<SessionState> {
      running();
      if (signal === "KILL") {
        kill("it was sent KILL");
        await ended;
        return stateNow();
      }
      if (++signals > MAX_SIGNALS) {
        throw new Fault(
          "rateLimited",
          `Cannot signal ${name}: it was sent ${MAX_SIGNALS} signals`,
        );
      }
      program.signal(signal);
      return stateNow();
    },
    async end(reason: string): Promise<void> {
      kill(reason);
      await ended;
    },
  });
}

/** The walls end by a signal only when they are killed. */
function codeOf({ code }: ExitStatus): number {
  return code ?? 137;
}

/** Converts a terminal's bytes to plain text, as bytes. */
function terminalBytes(): (piece: Uint8Array) => Uint8Array {
  const decoder = new TextDecoder(), encoder = new TextEncoder();
  const text = makeTerminalText();
  return (piece) => encoder.encode(text(decoder.decode(piece, { stream: true })));
}
