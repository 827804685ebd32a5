/**
 * Ends everything that a run of tests or benches starts when the run ends, however it ends. Kernels
 * and services outlive their starter by design. So a run has a folder, the `$TMPDIR` of all its
 * children, and a guard: a process in its own session that kills every process using the folder and
 * removes the folder, once the run has ended or was killed. If a guard itself was killed, the next
 * guard cleans up after it.
 *
 * @module
 */
import { endAllOver, kill9, type Proc, procOf, stillRunning } from "../../tests/fake/processes.ts";

/**
 * Matches a run's folder, which names the run's process id. Short, because socket paths beneath it
 * are limited to 107 bytes.
 */
const NAME = /^rt(\d+)$/;
/** File in a run's folder with the start time of its process: process ids are reused. */
const STARTED = "started";
const LOOK_MS = 500;
/** The command line of Deno or its npm launcher; not a shell that only names it. */
const LAUNCHER = /^(\S*\/)?(node \S*\/)?deno(\.c?js)? /;

/** A run that is guarded until it is disposed of, or until this process ends in any way. */
export interface GuardedRun extends AsyncDisposable {
  /** Kills every process that uses a folder of the run, and removes the folder. */
  end(folder: string): Promise<void>;
}

/** Guards this process: sets its `TMPDIR`, which children inherit, and starts a guard. */
export async function guardRun(): Promise<GuardedRun> {
  const before = Deno.env.get("TMPDIR");
  const folder = `${Deno.realPathSync(before ?? "/tmp")}/rt${Deno.pid}`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-check", import.meta.url, folder],
    env: { DENO_NO_UPDATE_CHECK: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    // A signal to the run's process group, such as at a time limit, must not end the guard.
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

/** Cleans up after runs whose process is gone and whose guard did not finish. */
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
      // Another guard is removing it, or the folder belongs to no run.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/**
 * Returns the ancestors of `pid` that are Deno as well, such as `deno task` and the npm launcher: a
 * time limit may kill only those.
 */
async function launchersOf(pid: number): Promise<readonly Proc[]> {
  const above = await procOf((await procOf(pid))?.ppid ?? 0);
  if (above === undefined || !LAUNCHER.test(above.command)) return [];
  return [above, ...await launchersOf(above.pid)];
}

/** Resolves when one of the processes has ended. */
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
  // Other users, as which some tests run, may pass through to their files but not list the folder.
  await Deno.mkdir(folder, { mode: 0o711 });
  await Deno.writeTextFile(`${folder}/${STARTED}`, run.started);
  const launchers = await launchersOf(run.pid);
  const answer = (): number => Deno.stdout.writeSync(new TextEncoder().encode("\n"));
  answer();
  // Only the run holds the other end of stdin, so it closes when the run ends.
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
  // A run without its launcher has no reader: kill it.
  if ((await stillRunning(launchers)).length < launchers.length) {
    for (const { pid } of await stillRunning([run])) kill9(pid);
  }
  await endOver(folder);
  Deno.exit(0);
}
