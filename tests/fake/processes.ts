/** Processes of this machine, as /proc shows them. */

/** A running process. Its start time distinguishes it from a later one with the same id. */
export interface Proc {
  readonly pid: number;
  readonly ppid: number;
  /** Clock ticks after boot. */
  readonly started: string;
  readonly state: string;
  readonly command: string;
}

/** A process, while it exists. */
export async function procOf(pid: number): Promise<Proc | undefined> {
  try {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    // The name may contain anything, also spaces and parentheses.
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

/** All present processes. */
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

/** Those of `procs` that still run. A zombie does not. */
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

/** Whether a process's command line, working folder or initial environment names a path in `folder`. */
async function belongsTo(folder: string, { pid, command }: Proc): Promise<boolean> {
  const names = (text: string): boolean => `${text} `.split(folder).slice(1).some(endsName);
  if (names(command)) return true;
  try {
    if (names(await Deno.readLink(`/proc/${pid}/cwd`))) return true;
    return names(await Deno.readTextFile(`/proc/${pid}/environ`));
  } catch {
    return false; // it has ended meanwhile, or belongs to another user
  }
}

/** Whether a name ends where `rest` begins: `/tmp/rt12` is no part of `/tmp/rt123`. */
function endsName(rest: string): boolean {
  return !/^[A-Za-z0-9_.-]/.test(rest);
}

/**
 * Kills every process that was started over `folder` (a kernel, whose environment is its own, names its state), with
 * all its descendants, until none is left; never this process. Reads environments, which Deno allows only with `-A`.
 */
export async function endAllOver(folder: string): Promise<void> {
  for (;;) {
    const all = (await processes()).filter(({ pid, state }) => pid !== Deno.pid && state !== "Z");
    const own = await Promise.all(all.map((proc) => belongsTo(folder, proc)));
    const found = all.filter((_, i) => own[i]);
    if (found.length === 0) return;
    const beneath = await Promise.all(found.map(({ pid }) => descendants(pid)));
    const doomed = new Set([...found, ...beneath.flat()].map(({ pid }) => pid));
    for (const pid of doomed) if (pid !== Deno.pid) kill9(pid);
    // TIMER: the end of a process that is not our child gives no event.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Kills a process, if it still runs: its descendants die with it. */
export function kill9(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Kills every process whose command line names `text`, and waits until they have ended. */
export async function endProcesses(text: string): Promise<void> {
  for (let left = await processesNaming(text); left.length > 0;) {
    for (const { pid } of left) kill9(pid);
    // TIMER: the end of a process that is not our child gives no event.
    await new Promise((resolve) => setTimeout(resolve, 5));
    left = await stillRunning(await processesNaming(text));
  }
}
