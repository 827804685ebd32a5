/**
 * A session's resources on this machine: copies, their service, the program. Used by
 * process_sessions.ts and process_book.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Collected } from "../../../contracts/tool/command.ts";
import type {
  SessionStart,
  SessionTaint,
  TerminalSize,
} from "../../../contracts/tool/process_session.ts";
import type { StagedChange } from "../../../contracts/tool/workspace.ts";
import type { CommandsParts } from "./commands.ts";
import { mixed, setup, startCopyService, watchWeight } from "./copies.ts";
import {
  type Begun,
  COMMAND_ENV,
  COPY_PLACES,
  lineOfCommand,
  lineOfCopy,
  programPlace,
  SIGNALS,
} from "../../core/start/command_line.ts";
import type { CommandWalls } from "../../core/start/walls.ts";
import type { SpawnPowers } from "../../core/start/spawn.ts";
import type { TaskFolders } from "../toolhost/toolhosts.ts";
import { beginProgram, type LiveProgram } from "./process_live.ts";
import type { LongRunPowers } from "./process_powers.ts";

/** Milliseconds for a killed program to end. */
const LATE_MS = 2_000;

interface RoomParts
  extends Pick<CommandsParts, "config" | "bundle" | "powers" | "disk" | "pins" | "contents"> {
  readonly walls: Extract<CommandWalls, { readonly kind: "walled" }>;
  readonly spawn: Pick<SpawnPowers, "start" | "succeeds">;
  readonly programs: LongRunPowers;
}

/** A session's resources. */
export interface Room {
  readonly program: LiveProgram;
  /** Colour and label of everything that the program could read, mixed with its starter's. */
  readonly read: SessionTaint & { readonly withheld: number };
  /** Staged changes at the time of copying, by path. */
  readonly before: ReadonlyMap<string, StagedChange>;
  readonly folders: TaskFolders;
  osPids(): readonly number[];
  /** Collects the changes in the copies; called once, after the program's end. */
  collect(taint: SessionTaint): Promise<Collected>;
  /** Kills and removes everything. Idempotent; resolves when done. */
  close(): Promise<void>;
}

/** Copies the mounts and starts the program. Rejects like a run, leaving nothing behind. */
export async function openRoom(
  parts: RoomParts,
  { run, folders, threads, dropped, onTooMuch }: {
    readonly run: SessionStart;
    readonly folders: TaskFolders;
    /** Processes and threads, at most; undefined: as many as any program. */
    readonly threads: number | undefined;
    /** Aborted when the session must end. */
    readonly dropped: AbortSignal;
    onTooMuch(fault: Fault): void;
  },
): Promise<Room> {
  const { config, disk, pins, powers } = parts;
  const { command } = run;
  const early = new Fault("cancelled", `Cannot start ${command.name}: cancelled`);
  if (dropped.aborted) throw early;
  const work = `${config.dir}/work/${run.task}/run-${powers.token()}`;
  // Beside the copies, not among them, so that no mount can have the pipe's name.
  const signals = `${work}.signals`;
  const before = new Map(folders.overlay().map((change) => [change.path, change]));
  for (const folder of [folders.contentDir, work]) await disk.makeDir(folder);
  const service = startCopyService(
    lineOfCopy(config, {
      ...{ bundle: parts.bundle, content: folders.contentDir, work },
      mounts: folders.mounts.filter(({ name }) => run.mounts.includes(name)),
    }),
    parts,
  );
  let program: LiveProgram | undefined;
  let closing: Promise<void> | undefined;
  const undo = async (): Promise<void> => {
    program?.kill("its session was dropped");
    await service.kill();
    await Promise.race([
      program?.ended,
      new Promise<void>((resolve) => void powers.after(LATE_MS, resolve)),
    ]);
    await disk.remove(work).catch(() => undefined);
    await disk.remove(signals).catch(() => undefined);
  };
  const close = (): Promise<void> => closing ??= undo();
  dropped.addEventListener("abort", () => void close(), { once: true });

  try {
    const pin = await pins.provide(command, dropped);
    const prepared = await service.prepare({
      ...{ setup: setup(folders, run.mounts), mounts: run.mounts, cwd: run.cwd },
      ...{ work: COPY_PLACES.work, generation: 1, ahead: false },
    });
    await makePipe(parts, signals, command.name);
    if (dropped.aborted) throw early;
    program = beginProgram({
      ...lineOfCommand(config, {
        ...{ identity: parts.walls.identity, work: `${work}/1`, mounts: run.mounts },
        ...{ pin, program: command.program, args: run.args, threads },
        ...{ cwd: run.cwd, env: { ...COMMAND_ENV, ...run.env } },
        begun: begunAs([programPlace(command.program), ...run.args], {
          signals,
          terminal: run.terminal,
        }),
      }),
      signals,
    }, { name: command.name, terminal: run.terminal !== undefined, ...parts });
    const unwatch = watchWeight({ service, powers, name: command.name }, onTooMuch);
    void program.ended.then(unwatch);
    const begun = program;
    return Object.freeze({
      ...{ program: begun, read: mixed(run, prepared), before, folders, close },
      osPids: () => [service.osPid, begun.pid],
      collect: (taint: SessionTaint) => service.collect({ ...taint }),
    });
  } catch (error) {
    await close();
    // The pipe may have been made during the removal.
    await disk.remove(signals).catch(() => undefined);
    throw error;
  }
}

/** Makes a named pipe, which Deno cannot do by itself. */
async function makePipe({ config, spawn }: RoomParts, path: string, name: string): Promise<void> {
  const { prlimit = "" } = config.programs;
  const words = ["--core=0", "--", "mkfifo", "-m", "0644", path];
  if (await spawn.succeeds(prlimit, words)) return;
  throw new Fault("unavailable", `Cannot start ${name} as a session: there is no mkfifo here`);
}

// The start of a program that outlives its call, inside its walls. Every script is one of the constants here: the program
// and its arguments are passed as arguments, never inserted into a script.

/**
 * Passes signals on to the program's group, from a process that is not the program's child: a program that waits for all
 * its children must not wait for this one. `$$` becomes the program's pid.
 */
const LISTEN = `( ( trap '' HUP INT QUIT TERM USR1 USR2; ` +
  `while read -r s; do kill -s "$s" -- "-$$"; done ) <${SIGNALS} >/dev/null 2>&1 & )`;

const PLAIN = `${LISTEN}; exec "$@"`;

/** `script` runs its command in a shell of its own without arguments, so these come as variables. */
const TERMINAL = `set --; i=0; while [ "$i" -lt "$REMIT_WORDS" ]; do ` +
  `eval "set -- \\"\\$@\\" \\"\\$REMIT_WORD_$i\\""; unset "REMIT_WORD_$i"; i=$((i+1)); done; ` +
  `stty rows "$REMIT_ROWS" cols "$REMIT_COLUMNS" 2>/dev/null; ` +
  `unset REMIT_WORDS REMIT_ROWS REMIT_COLUMNS i; ${LISTEN}; exec "$@"`;

/** The start of `words`, which begin with the program's path; `signals`: the pipe's path on the machine. */
function begunAs(
  words: readonly string[],
  { signals, terminal }: { readonly signals: string; readonly terminal?: TerminalSize | undefined },
): Begun {
  if (terminal === undefined) {
    return { signals, words: ["/bin/sh", "-c", PLAIN, "remit", ...words], env: {} };
  }
  return {
    signals,
    // Quiet, flushed at once, with the program's own exit code, and without a recording.
    words: ["/usr/bin/script", "-q", "-f", "-e", "-c", TERMINAL, "/dev/null"],
    env: {
      // INVARIANT: whatever a call sets, this shell reads the constant.
      SHELL: "/bin/sh",
      REMIT_ROWS: String(terminal.rows),
      REMIT_COLUMNS: String(terminal.columns),
      REMIT_WORDS: String(words.length),
      ...Object.fromEntries(words.map((word, at) => [`REMIT_WORD_${at}`, word])),
    },
  };
}
