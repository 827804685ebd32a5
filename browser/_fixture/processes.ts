/** What the machine says of a process and all that it started. @module */

/** A process of the machine. */
export interface Seen {
  readonly pid: number;
  readonly command: readonly string[];
  readonly status: Readonly<Record<string, string>>;
  /** Its network namespace, and its user namespace. */
  readonly net: string;
  readonly user: string;
  /** Names of the network interfaces that it has. */
  readonly interfaces: readonly string[];
}

/** The process itself and all beneath it. */
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
    return undefined; // It has ended meanwhile.
  }
}

/** Whether a process of this number runs; one that waits to be reaped does not. */
export function runs(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false; // It is gone.
  }
}
