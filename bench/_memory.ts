/** Memory of processes and their descendants (setpriv and bwrap become or fork what they start). @module */

/** Megabytes: what is its own and its part of what is shared (PSS), and all that is mapped (RSS). */
export interface Memory {
  readonly pss: number;
  readonly rss: number;
}

/** Adds up these processes and all beneath them. */
export async function memoryOf(pids: readonly number[]): Promise<Memory> {
  let [pss, rss] = [0, 0];
  for (const pid of pids) {
    const rollup = await Deno.readTextFile(`/proc/${pid}/smaps_rollup`);
    pss += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
    rss += Number(/^Rss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
    const children = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`);
    const beneath = await memoryOf(children.trim().split(" ").filter(Boolean).map(Number));
    pss += beneath.pss;
    rss += beneath.rss;
  }
  return { pss, rss };
}
