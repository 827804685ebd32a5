/** Whole tasks in a real kernel: one alone, a hundred at once, two thousand for leaks. @module */
import { MountName } from "../contracts/authority/mod.ts";
import { toJson } from "../contracts/base/mod.ts";
import type { TaskRequest } from "../contracts/task/mod.ts";
import type { Mount } from "../contracts/tool/mod.ts";
import { type BenchKernel, benchRequest, startBenchKernel } from "./_kernel.ts";
import { type Memory, memoryOf } from "./_memory.ts";
import { median, quantile } from "./quantile.ts";
import { atMost, type Row, shown as shownRow } from "./row.ts";
import { timed } from "./world.ts";
import { bareStart } from "./yardstick.ts";

const ROUNDS = 30;
const MANY = 100;
const LEAK = 2_000;
/** Pause between rounds, milliseconds: the pool fills while nothing is asked. */
const CALM = 80;

/** Five calls and six model turns: `tool` decides whether a toolhost takes part. */
function scenario(tool: string): string {
  const turn = (i: number): string =>
    `  - { name: "look ${i}", say: "I look.", calls: [ { tool: ${tool}, args: { path: m/a.txt${
      tool === "file_delete" ? "" : `, from: ${i}`
    } } } ] }`;
  return [
    "scenario: five calls",
    "turns:",
    ...[1, 2, 3, 4, 5].map(turn),
    "  - { name: end, say: Done. }",
  ].join("\n");
}

/** Calls that the gate decides, refuses and logs, without a toolhost. */
const REFUSED = scenario("file_delete");
const READING = scenario("file_read");
/** Ends before a hundred others begin, and is looked at while they run. */
const REFUSED_ALONE = benchRequest(REFUSED);

/** Gives the rows of the issue's lines on tasks. */
export async function taskBench(): Promise<Row[]> {
  const dir = await Deno.makeTempDir({ prefix: "remit-bench-mount-" });
  await Deno.writeTextFile(`${dir}/a.txt`, "one line of text\n".repeat(40));
  const mount: Mount = {
    name: MountName.parse("m"),
    dir: await Deno.realPath(dir),
    mode: "ro",
    colour: "YELLOW",
    label: "internal",
    marks: [],
  };
  const kernel = await startBenchKernel();
  try {
    const refused = benchRequest(REFUSED, [mount]);
    const reading = benchRequest(READING, [mount]);
    const alone = await one(kernel, refused, reading);
    const many = await hundred(kernel, refused, "100 tasks of 5 calls at once", 1);
    const hosted = await hundred(kernel, reading, "100 tasks of 5 calls with toolhosts", 2);
    const memory = await memoryRows(kernel, reading);
    const leak = await leaks(kernel, refused);
    return [...alone, ...many, ...hosted, ...memory, ...leak];
  } finally {
    await kernel.close();
    await Deno.remove(dir, { recursive: true });
  }
}

// TIMER: lets the pool fill between rounds, as between a person's requests.
const calm = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, CALM));

async function repeated(kernel: BenchKernel, request: TaskRequest): Promise<number> {
  const times: number[] = [];
  for (let i = -3; i < ROUNDS; i++) {
    const ms = await timed(() => kernel.run(request));
    if (i >= 0) times.push(ms);
    await calm();
  }
  return median(times);
}

async function one(
  kernel: BenchKernel,
  refused: TaskRequest,
  reading: TaskRequest,
): Promise<Row[]> {
  const plain = await repeated(kernel, refused);
  const start = await bareStart();
  const hosted = await repeated(kernel, reading);
  return [
    // Five calls, six answers of the model and a worker's first words: what a program takes to begin.
    ofStart("task of 5 calls and 6 model turns, worker from the pool", plain, start, 1),
    shown("the same with a toolhost started for it", "ms", hosted, start),
  ];
}

async function hundred(
  kernel: BenchKernel,
  request: TaskRequest,
  name: string,
  most: number,
): Promise<Row[]> {
  const before = await bareStart();
  const { task } = await kernel.finish(REFUSED_ALONE);
  const cpu = await cpuOf(kernel.pid);
  let on = true;
  const unrelated: number[] = [], all: number[] = [];
  const pinging = (async () => {
    while (on) {
      unrelated.push(await timed(() => kernel.link.ask("task", { task })));
      // Has a row for each of the hundred: what it costs by itself is not waiting.
      if (unrelated.length % 4 === 0) all.push(await timed(() => kernel.link.ask("ps", null)));
      await new Promise((resolve) => setTimeout(resolve, 2)); // TIMER: a person looking now and then
    }
  })();
  const wall = await timed(async () => {
    const exits = await Promise.all(Array.from({ length: MANY }, () => kernel.run(request)));
    if (exits.some((exit) => exit !== 0)) throw new Error(`tasks failed: ${exits.join(" ")}`);
  });
  on = false;
  await pinging;
  const spent = (await cpuOf(kernel.pid) - cpu) / MANY;
  // Of before and after: what else runs here comes and goes.
  const start = (before + await bareStart()) / 2;
  return [
    atMost({ name, value: wall, unit: "ms", baseline: start * MANY }, most, "100 bare starts"),
    within(`${name}: kernel memory at most`, "MB", await peakOf(kernel.pid), 0, 100),
    shown(`${name}: kernel processor time a task`, "ms", spent, 0),
    // A person who looks is answered before any program would have begun.
    ofStart(`${name}: another task looked at meanwhile, median`, median(unrelated), start, 0.1),
    ofStart(
      `${name}: another task looked at meanwhile, p99`,
      ...[quantile(unrelated, 0.99), start, 0.75] as const,
    ),
    shown(`${name}: a list of all of them meanwhile, median`, "ms", median(all), 0),
  ];
}

async function cpuOf(pid: number): Promise<number> {
  const fields = (await Deno.readTextFile(`/proc/${pid}/stat`)).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function statusOf(pid: number, name: string): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? NaN) / 1024;
}

const peakOf = (pid: number): Promise<number> => statusOf(pid, "VmHWM");

/** Proportional memory of worker and toolhost while 30 tasks wait inside an inference. */
async function memoryRows(kernel: BenchKernel, reading: TaskRequest): Promise<Row[]> {
  const waiting = [
    "scenario: reads, then thinks for long",
    "turns:",
    "  - { name: look, say: I look., calls: [ { tool: file_read, args: { path: m/a.txt } } ] }",
    "  - { name: think, say: thinking, stream: { firstMs: 600000 } }",
  ].join("\n");
  const request = benchRequest(waiting, reading.mounts);
  const tasks: string[] = [];
  for (let i = 0; i < 30; i++) {
    tasks.push((await kernel.link.ask("run", toJson(request)) as { task: string }).task);
  }
  let rows: { task: string; os: number[]; usage: { resultBytes: number } }[] = [];
  for (let tries = 0; tries < 400; tries++) {
    rows = await kernel.link.ask("ps", null) as unknown as typeof rows;
    // A call is counted when it begins, while its toolhost still starts; its result, when it is there.
    if (rows.length === 30 && rows.every((row) => row.usage.resultBytes > 0)) break;
    await calm();
  }
  if (!rows.every((row) => row.usage.resultBytes > 0)) throw new Error("30 tasks did not all read");
  const worker = await Promise.all(rows.map((row) => memoryOf(row.os.slice(0, 1))));
  const both = await Promise.all(rows.map((row) => memoryOf(row.os)));
  for (const task of tasks) await kernel.link.ask("cancel", { task });
  const mean = (all: readonly Memory[]): number =>
    all.reduce((sum, { pss }) => sum + pss, 0) / all.length;
  return [
    within("worker, proportional memory among 30", "MB", mean(worker), 0, 11),
    within("worker with its toolhost, proportional memory", "MB", mean(both), 0, 22),
  ];
}

async function leaks(kernel: BenchKernel, request: TaskRequest): Promise<Row[]> {
  const batch = async (count: number): Promise<void> => {
    let left = count;
    await Promise.all(Array.from({ length: 8 }, async () => {
      while (left-- > 0) await kernel.run(request);
    }));
  };
  await batch(LEAK / 2);
  const half = await statusOf(kernel.pid, "VmRSS");
  await batch(LEAK / 2);
  const whole = await statusOf(kernel.pid, "VmRSS");
  const name = "kernel memory after 2,000 tasks against after 1,000";
  return [atMost({ name, value: whole, unit: "MB", baseline: half }, 1.25, "after 1,000")];
}

/** A size, which is the same on every machine. */
function within(name: string, unit: "MB", value: number, baseline: number, most: number): Row {
  const row = shown(name, unit, value, baseline);
  return { ...row, target: `≤ ${most} ${unit}`, ok: value <= most };
}

function ofStart(name: string, value: number, start: number, most: number): Row {
  return atMost({ name, value, unit: "ms", baseline: start }, most, "a bare start");
}

function shown(name: string, unit: string, value: number, baseline: number): Row {
  return shownRow({ name, unit, value, baseline });
}
