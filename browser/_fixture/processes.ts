/** What /proc shows of a process and all its descendants. @module */

/** An operating-system process. */
export interface Seen {
  readonly pid: number;
  readonly command: readonly string[];
  readonly status: Readonly<Record<string, string>>;
  /** Its network namespace, and its user namespace. */
  readonly net: string;
  readonly user: string;
  /** Names of its network interfaces. */
  readonly interfaces: readonly string[];
}

/** The process itself and all its descendants. */
export function processesOf(top: number): readonly Seen[] {
  const all = [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    const found = /^[0-9]+$/.test(name) ? look(Number(name)) : undefined;
    return found === undefined ? [] : [found];
  });
  const own = new Set([top]);
  for (let before = 0; before < own.size;) {
    before = own.size;
    for (const { pid, status } of all) if (own.has(Number(status["PPid"]))) own.add(pid);
  }
  return all.filter(({ pid }) => own.has(pid));
}

function look(pid: number): Seen | undefined {
  try {
    const lines = Deno.readTextFileSync(`/proc/${pid}/status`).split("\n");
    const device = Deno.readTextFileSync(`/proc/${pid}/net/dev`).split("\n").slice(2);
    return {
      pid,
      command: Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0").slice(0, -1),
      status: Object.fromEntries(lines.map((line) => {
        const [name = "", ...rest] = line.split(":");
        return [name, rest.join(":").trim()];
      })),
      net: Deno.readLinkSync(`/proc/${pid}/ns/net`),
      user: Deno.readLinkSync(`/proc/${pid}/ns/user`),
      interfaces: device.flatMap((line) =>
        line.includes(":") ? [line.split(":")[0]?.trim() ?? ""] : []
      ),
    };
  } catch {
    return undefined; // The process has ended meanwhile.
  }
}

/** Whether a process with this id runs; a zombie does not. */
export function runs(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false; // The process has ended.
  }
}
