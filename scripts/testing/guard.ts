/**
 * What a run of tests or benches starts ends with it, however it ends. Kernels and services are made to outlive who
 * started them, so a run has a folder, `$TMPDIR` of all that it starts, and a guard beside it: a process in a session
 * of its own that kills what works over that folder and removes the folder, once the run is over or was killed. A guard
 * that was killed itself is made up for by the next one.
 *
 * @module
 */
import { endAllOver, kill9, type Proc, procOf, stillRunning } from "../../tests/fake/processes.ts";

/** Names a run's folder; its number is the run's process. Short: sockets lie beneath it, with 107 bytes for a path. */
const NAME = /^rt(\d+)$/;
/** Says in a run's folder when its process started: numbers come again. */
const STARTED = "started";
const LOOK_MS = 500;
/** The command line of Deno itself, or of the program of npm that starts it; a shell that only names it is none. */
const LAUNCHER = /^(\S*\/)?(node \S*\/)?deno(\.c?js)? /;

/** A run that is guarded until it is disposed of, or until this process ends in whatever way. */
export interface GuardedRun extends AsyncDisposable {
  /** Kills all that works over a folder of the run, and removes the folder. */
  end(folder: string): Promise<void>;
}

/** Makes this process a guarded run: sets its `TMPDIR`, which its children inherit, and starts its guard. */
export async function guardRun(): Promise<GuardedRun> {
  const before = Deno.env.get("TMPDIR");
  const folder = `${Deno.realPathSync(before ?? "/tmp")}/rt${Deno.pid}`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-check", import.meta.url, folder],
    env: { DENO_NO_UPDATE_CHECK: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    // What is sent to the run's group, as at a time limit, would end the guard with it.
    detached: true,
  }).spawn();
  const [asks, answers] = [child.stdin.getWriter(), child.stdout.getReader()];
  const answer = async (): Promise<void> => {
    if ((await answers.read()).done) throw new Error("Cannot guard the run: its guard ended");
  };
  let last = answer();
  await last;
  Deno.env.set("TMPDIR", folder);
  return Object.freeze({
    end(over: string): Promise<void> {
      last = last.then(async () => {
        await asks.write(new TextEncoder().encode(`${over}\n`));
        await answer();
      });
      return last;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      if (before === undefined) Deno.env.delete("TMPDIR");
      else Deno.env.set("TMPDIR", before);
      await last;
      await asks.close();
      await answers.cancel();
      await child.status;
    },
  });
}

async function endOver(folder: string): Promise<void> {
  await endAllOver(folder);
  try {
    await Deno.remove(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Ends what runs left whose process is gone, and whose guard did not come to it. */
async function endLeftRuns(parent: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(parent)) {
    const run = isDirectory ? NAME.exec(name)?.[1] : undefined;
    if (run === undefined) continue;
    const folder = `${parent}/${name}`;
    try {
      if ((await Deno.lstat(folder)).uid !== Deno.uid()) continue;
      const started = await Deno.readTextFile(`${folder}/${STARTED}`);
      const by = await procOf(Number(run));
      if (by?.started === started && by.state !== "Z") continue;
      await endOver(folder);
    } catch (error) {
      // Another guard removes it, or a run of another name has no such file.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** Processes above `pid` that are Deno's too, as `deno task` and the launcher of npm: a time limit may end these alone. */
async function launchersOf(pid: number): Promise<readonly Proc[]> {
  const above = await procOf((await procOf(pid))?.ppid ?? 0);
  if (above === undefined || !LAUNCHER.test(above.command)) return [];
  return [above, ...await launchersOf(above.pid)];
}

/** Resolves when one of them is no more. */
async function endOfOne(procs: readonly Proc[]): Promise<void> {
  while ((await stillRunning(procs)).length === procs.length) {
    // TIMER: the end of a process that is not our child has no event.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

if (import.meta.main) {
  const folder = Deno.args[0] ?? "";
  const parent = folder.slice(0, folder.lastIndexOf("/"));
  const run = await procOf(Number(NAME.exec(folder.slice(parent.length + 1))?.[1]));
  if (run === undefined) throw new Error("Cannot guard the run: it is over");
  await endLeftRuns(parent);
  // Other users, as whom tests run too, pass through to what is theirs, and list nothing.
  await Deno.mkdir(folder, { mode: 0o711 });
  await Deno.writeTextFile(`${folder}/${STARTED}`, run.started);
  const launchers = await launchersOf(run.pid);
  const answer = (): number => Deno.stdout.writeSync(new TextEncoder().encode("\n"));
  answer();
  // The run holds the other end, and nobody else does: it closes when the run ends.
  const over = (async () => {
    let said = "";
    for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
      const lines = (said + text).split("\n");
      said = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith(`${folder}/`)) await endOver(line);
        answer();
      }
    }
  })();
  await Promise.race([over, endOfOne(launchers)]);
  // Nobody would hear how a run without its launcher ends.
  if ((await stillRunning(launchers)).length < launchers.length) {
    for (const { pid } of await stillRunning([run])) kill9(pid);
  }
  await endOver(folder);
  Deno.exit(0);
}
