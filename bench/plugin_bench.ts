/** Plugins: instances, calls through gate and port, host calls, overruns, memory. @module */
import { startLineProcess } from "./_line_process.ts";
import { startPipeFloor } from "./plugin/pipe_floor.ts";
import { makeRig, type Rig } from "./plugin/hosts.ts";
import { median, quantile } from "./quantile.ts";
import { atMost, type Row, shown } from "./row.ts";
import { timed } from "./world.ts";
import { bareStart } from "./yardstick.ts";

/** Rows for `deno task bench`. */
export async function pluginBench(): Promise<Row[]> {
  await using rig = await makeRig();
  return [
    ...await freshInstances(rig),
    ...await warmCalls(rig),
    await hostCalls(rig),
    ...await programs(rig),
    await overrun(rig),
    await searching(rig),
    await growth(rig),
  ];
}

const KILOBYTE = "a line of words, sixty-four characters long with its end of it.\n".repeat(16);

function fileOf(rig: Rig, name: string): string {
  const found = rig.built.plugins.find(({ manifest }) => manifest.name === name);
  if (found === undefined) throw new Error(`Cannot bench: no plugin ${name}`);
  return found.file;
}

async function rounds(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < count; i++) took.push(await timed(work));
  return took;
}

async function freshInstances(rig: Rig): Promise<Row[]> {
  const input = JSON.stringify({ v: 1, op: "exec", args: { code: "1 + 1" } });
  const home = new URL("..", import.meta.url).pathname;
  const program = [`--config=${home}deno.json`, `${home}bench/plugin/bare.ts`];
  // It gives way to others as the plugin host beside it does.
  await using raw = await startLineProcess([...program, fileOf(rig, "exec"), input], {
    yields: true,
  });
  const exec = (): Promise<string> => rig.call("exec", { code: "1 + 1" });
  const bare: number[] = [], ours: number[] = [];
  for (let i = -50; i < 300; i++) {
    const [theirs, mine] = [Number(await raw.ask()), await timed(exec)];
    if (i < 0) continue;
    bare.push(theirs);
    ours.push(mine);
  }
  const name = "fresh instance and call of exec, through gate and port";
  const at = (p: number) => ({ value: quantile(ours, p), unit: "ms", baseline: quantile(bare, p) });
  return [
    atMost({ name: `${name}, median`, ...at(0.5) }, 1.2, "raw Extism"),
    // Two processes more may be held up, each for as long.
    atMost({ name: `${name}, p99`, ...at(0.99) }, 2, "raw Extism"),
  ];
}

/** V8 compiles a function well after 3,000 calls: before that a call is lukewarm, and told of apart. */
async function warmCalls(rig: Rig): Promise<Row[]> {
  const count = (): Promise<string> => rig.call("text_count", { text: KILOBYTE });
  await using floor = startPipeFloor();
  const call = [1, "call", { tool: "text_count", args: { text: KILOBYTE }, bytes: 65_536 }];
  const trip = (): Promise<void> => floor.trip(call);
  await rounds(50, count);
  const early = median(await rounds(300, count));
  await rounds(5_000, count);
  await rounds(300, trip);
  const value = median(await rounds(1_000, count)), baseline = median(await rounds(300, trip));
  const name = "warm call with 1 KB, through gate and port, against its bytes over pipes";
  return [
    // The gate's own work, two durable rows and the instance cleaned for the next call, beside the bytes.
    atMost({ name, value, unit: "ms", baseline }, 4, "its bytes over pipes"),
    shown({ name: "the same among the first 350 calls", value: early, unit: "ms", baseline }),
  ];
}

async function hostCalls(rig: Rig): Promise<Row> {
  const many = 500;
  const loop = (count: number): Promise<string> =>
    rig.call("exec", {
      code: `for (let i = 0; i < ${count}; i++) await remit.progress("x"); 1`,
    });
  await loop(10);
  const with_ = median(await rounds(9, () => loop(many)));
  const without = median(await rounds(9, () => loop(0)));
  await using floor = startPipeFloor();
  const trip = (): Promise<void> => floor.trip([1, "progress", { text: "x" }]);
  await rounds(300, trip);
  const figure = {
    value: (with_ - without) / many,
    unit: "ms",
    baseline: median(await rounds(300, trip)),
  };
  // The engine gives its memory to the host and takes it back, once each way.
  return atMost({ name: "host call to the kernel and back", ...figure }, 2, "its bytes over pipes");
}

async function programs(rig: Rig): Promise<Row[]> {
  const spawn = median(
    await rounds(30, () => new Deno.Command("/bin/cat", { args: ["/dev/null"] }).output()),
  );
  const date = { program: "date", args: [] };
  await rig.call("command", date);
  const wasm = median(await rounds(50, () => rig.call("command", date)));
  const name = "CommandRunner in WASM, against bare process spawn";
  return [shown({ name, value: wasm, unit: "ms", baseline: spawn })];
}

async function overrun(rig: Rig): Promise<Row> {
  const most = 50;
  await rig.outcome("exec", { code: "1" });
  const late: number[] = [];
  for (let i = 0; i < 9; i++) {
    await rig.call("exec", { code: "1" });
    const took = await timed(() => rig.outcome("exec", { code: "for (;;) {}", timeoutMs: most }));
    late.push(took - most);
  }
  const figure = { value: median(late), unit: "ms", baseline: await bareStart() };
  return atMost({ name: "overrun past a deadline", ...figure }, 1.5, "a bare start");
}

async function searching(rig: Rig): Promise<Row> {
  const text = `${KILOBYTE.repeat(900)}the needle\n`;
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, text);
    const grep = median(
      await rounds(15, () => new Deno.Command("grep", { args: ["-n", "needle", file] }).output()),
    );
    const search = (): Promise<string> => rig.call("text_search", { text, query: "needle" });
    await search();
    const value = median(await rounds(15, search));
    const name = `text_search over ${(text.length / 1e6).toFixed(1)} MB of argument, against grep`;
    return shown({ name, value, unit: "ms", baseline: grep });
  } finally {
    await Deno.remove(file);
  }
}

async function growth(rig: Rig): Promise<Row> {
  let highest = 0;
  for (let i = 0; i < 5_000; i++) {
    await rig.call(
      i % 5 === 0 ? "exec" : "text_count",
      i % 5 === 0 ? { code: "1" } : { text: "x" },
    );
    if (i % 100 === 0) highest = Math.max(highest, ...rig.osPids().map(resident));
  }
  const name = "most memory of a plugin host over 5,000 calls";
  const row = shown({ name, value: highest, unit: "MB", baseline: 0 });
  return { ...row, target: "≤ 160 MB", ok: highest <= 160 };
}

/** Resident megabytes of a process; 0 when it has ended. */
function resident(pid: number): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1];
    return Number(kilobytes ?? 0) / 1_024;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}
