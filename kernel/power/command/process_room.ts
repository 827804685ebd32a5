/** What a session has on this machine: copies, the service that keeps them, the program. @module */
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

/** Milliseconds that a killed program may take to be gone. */
const LATE_MS = 2_000;

interface RoomParts
  extends Pick<CommandsParts, "config" | "bundle" | "powers" | "disk" | "pins" | "contents"> {
  readonly walls: Extract<CommandWalls, { readonly kind: "walled" }>;
  readonly spawn: Pick<SpawnPowers, "start" | "succeeds">;
  readonly programs: LongRunPowers;
}

/** A session's place. */
export interface Room {
  readonly program: LiveProgram;
  /** Of all that the program could read, and of its starter. */
  readonly read: SessionTaint & { readonly withheld: number };
  /** Staged changes when the copies were made, by path. */
  readonly before: ReadonlyMap<string, StagedChange>;
  readonly folders: TaskFolders;
  osPids(): readonly number[];
  /** What changed in the copies; once, after the program has ended. */
  collect(taint: SessionTaint): Promise<Collected>;
  /** Ends and removes everything. Idempotent; resolves when it is done. */
  close(): Promise<void>;
}

/** Copies the mounts and begins the program. Rejects as a run does; nothing stays then. */
export async function openRoom(
  parts: RoomParts,
  { run, folders, threads, dropped, onTooMuch }: {
    readonly run: SessionStart;
    readonly folders: TaskFolders;
    /** Processes and threads that it may have; undefined: as many as any program. */
    readonly threads: number | undefined;
    /** Aborted when the session is to end. */
    readonly dropped: AbortSignal;
    onTooMuch(fault: Fault): void;
  },
): Promise<Room> {
  const { config, disk, pins, powers } = parts;
  const { command } = run;
  const early = new Fault("cancelled", `Cannot start ${command.name}: cancelled`);
  if (dropped.aborted) throw early;
  const work = `${config.dir}/work/${run.task}/run-${powers.token()}`;
  // Beside the copies, not among them: no mount's name can be that of the pipe.
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
    // What was made while it was being removed.
    await disk.remove(signals).catch(() => undefined);
    throw error;
  }
}

/** A named pipe: nothing that Deno can make by itself. */
async function makePipe({ config, spawn }: RoomParts, path: string, name: string): Promise<void> {
  const { prlimit = "" } = config.programs;
  const words = ["--core=0", "--", "mkfifo", "-m", "0644", path];
  if (await spawn.succeeds(prlimit, words)) return;
  throw new Fault("unavailable", `Cannot start ${name} as a session: there is no mkfifo here`);
}

// How a program is begun that goes on after its call, inside its walls. Every text that a shell reads
// is one of the constants here: a program and its words are given as words, never put into a text.

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
function begunAs(
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
