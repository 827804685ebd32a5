/** Processes of this machine, as /proc shows them. */

/** One process that is there. Its start tells it from a later one of the same number. */
export interface Proc {
  readonly pid: number;
  readonly ppid: number;
  /** Clock ticks after boot. */
  readonly started: string;
  readonly state: string;
  readonly command: string;
}

async function procOf(pid: number): Promise<Proc | undefined> {
  try {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    // The name may hold anything, also spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = await Deno.readTextFile(`/proc/${pid}/cmdline`);
    return {
      pid,
      ppid: Number(fields[1]),
      started: fields[19] ?? "",
      state: fields[0] ?? "",
      command: command.replaceAll("\0", " "),
    };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || /ESRCH|os error 3\b/.test(String(error))) {
      return undefined;
    }
    throw error;
  }
}

/** Every process there is now. */
async function processes(): Promise<readonly Proc[]> {
  const found: Proc[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    const proc = /^\d+$/.test(name) ? await procOf(Number(name)) : undefined;
    if (proc !== undefined) found.push(proc);
  }
  return found;
}

/** Children of a process, their children, and so on. */
export async function descendants(pid: number): Promise<readonly Proc[]> {
  const all = await processes();
  const family = new Set([pid]);
  const found: Proc[] = [];
  for (let before = -1; before !== found.length;) {
    before = found.length;
    for (const proc of all) {
      if (!family.has(proc.ppid) || family.has(proc.pid)) continue;
      family.add(proc.pid);
      found.push(proc);
    }
  }
  return found;
}

/** Those of `procs` that still run. One that is dead and not yet reaped does not. */
export async function stillRunning(procs: readonly Proc[]): Promise<readonly Proc[]> {
  const now = await Promise.all(procs.map(({ pid }) => procOf(pid)));
  return procs.filter((proc, i) => now[i]?.started === proc.started && now[i]?.state !== "Z");
}

/** Processes, other than this one, whose command line names `text`. */
export async function processesNaming(text: string): Promise<readonly Proc[]> {
  return (await processes()).filter(({ pid, command }) =>
    pid !== Deno.pid && command.includes(text)
  );
}

/** Kills a process that runs, or has ended meanwhile: one that dies takes those beneath it along. */
export function kill9(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Kills every process whose command line names `text`, and waits until they are gone. */
export async function endProcesses(text: string): Promise<void> {
  for (let left = await processesNaming(text); left.length > 0;) {
    for (const { pid } of left) kill9(pid);
    // TIMER: the end of a process that is not our child has no event.
    await new Promise((resolve) => setTimeout(resolve, 5));
    left = await stillRunning(await processesNaming(text));
  }
}
