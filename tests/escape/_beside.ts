/** A hostile worker beside an honest task: what every attack of a worker is measured with. */
import assert from "node:assert/strict";
import { besiege, type Siege, type Watched } from "../fake/siege.ts";
import { waitUntil } from "../fake/wait_until.ts";

/** Most processor time that a kernel may spend before it answers a control request while somebody attacks, milliseconds. */
const RESPONSIVE_MS = 10_000;

/** Turns of an honest task: it reads one file and says what stands there. */
export const HONEST = `
  - calls: [{ tool: file_read, args: { path: desk/notes/plan.md } }]
  - say: "{{ tool.file_read }}"`;

/** What an attack left. */
export interface Aftermath {
  readonly siege: Siege;
  readonly mallory: Watched;
  /** Most memory that the kernel ever had, and had before, KiB. */
  readonly peak: number;
  readonly before: number;
}

/** Writes raw bytes past the port: \`raw(text)\` in a hostile program. */
const RAW = `const raw = (text) => {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  for (let n = 0; n < bytes.length;) n += Deno.stdout.writeSync(bytes.subarray(n));
};`;

/**
 * Runs `body` as the turn of a hostile worker (it sees \`ports\`, \`message\` and \`raw\`) beside an honest task,
 * which must end well while the kernel goes on answering.
 */
export async function attack(
  body: string,
  check: (left: Aftermath) => Promise<void>,
): Promise<void> {
  await besiege(async (siege) => {
    const before = peakOf(siege.pid);
    const program = `({ async turn(ports, message) { ${RAW}\n${body} } })`;
    const mallory = await siege.run({ program });
    const bob = await siege.run({ turns: HONEST });
    for (let i = 0; i < 10; i++) await asksWell(siege);
    assert.deepEqual(await bob.end, { task: bob.id, status: "done", exit: 0 });
    assert.equal((await bob.task())["answer"], "call the supplier\n");
    await check({ siege, mallory, peak: peakOf(siege.pid), before });
  });
}

/** The kernel answers, and is not held up before: by the work that it did meanwhile, which no other process of the machine adds to. */
export async function asksWell(siege: Siege): Promise<void> {
  const before = workOf(siege.pid);
  await siege.ask("ps", null);
  const worked = workOf(siege.pid) - before;
  assert.ok(worked < RESPONSIVE_MS, `the kernel worked for ${worked} ms before it answered`);
}

/** Processor time of a process until now, milliseconds: Linux counts it in hundredths of a second. */
function workOf(pid: number): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const [user = "0", system = "0"] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13);
  return 10 * (Number(user) + Number(system));
}

/** The hostile task failed as \`upstream\`, and no process of it is left. */
export async function assertThrownOut({ siege, mallory }: Aftermath): Promise<string> {
  const { status, exit } = await mallory.end;
  assert.deepEqual({ status, exit }, { status: "failed", exit: 67 });
  const rows = await siege.ask("ps", null) as { task: string }[];
  assert.equal(rows.some(({ task }) => task === mallory.id), false);
  return String((await mallory.task())["reason"]);
}

/** Most memory that a process ever had resident, KiB. */
export function peakOf(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]);
}

/** The one process of a task's worker, once it has begun: others of the siege may be done before. */
export async function workerOf(siege: Siege, { id }: Pick<Watched, "id">): Promise<number[]> {
  const os = await waitUntil("a worker that has begun", async () => {
    const rows = await siege.ask("ps", null) as { task: string; os: number[] }[];
    const found = rows.find(({ task }) => task === id)?.os ?? [];
    return found.length === 0 ? undefined : found;
  });
  assert.equal(os.length, 1);
  return os;
}
