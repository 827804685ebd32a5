/** Starting children: cold against bare `deno run`, from the warm pool, with a foreign program. @module */
import type { Json, PortHandler } from "../contracts/base/mod.ts";
import { waitUntil } from "../tests/fake/wait_until.ts";
import type { Child, Children } from "../kernel/core/child/children.ts";
import { atMost, type Row } from "./row.ts";
import { quantile } from "./quantile.ts";
import { type BenchWorld, makeBenchWorld, timed } from "./world.ts";

const COLD = 20;
const WARM = 60;

const DEAF: PortHandler = {
  ask: () => null,
  tell: () => undefined,
};

/** Gives the rows of the first performance line. */
export async function startBench(): Promise<Row[]> {
  await using world = await makeBenchWorld(["worker", "toolhost", "remote"]);
  return [...await cold(world), ...await warm(world), await service(world)];
}

async function cold(world: BenchWorld): Promise<Row[]> {
  const children = await world.children();
  const bare: number[] = [];
  const worker: number[] = [];
  const host: number[] = [];
  // In turns, so that a busy machine is as busy for each of them. The first rounds warm the cache.
  for (let i = -3; i < COLD; i++) {
    const times = [
      await timed(() => runEmpty(world)),
      await timed(async () => await done(await children.worker(DEAF))),
      await timed(async () => await done(await toolhost(world, children))),
    ];
    if (i < 0) continue;
    [bare, worker, host].forEach((all, at) => all.push(times[at] ?? NaN));
    for (const child of started.splice(0)) await child.kill();
  }
  const baseline = quantile(bare, 0.5);
  const walled = children.walls().bwrap;
  return [
    row("worker, cold start to first message", quantile(worker, 0.5), baseline, 1.4),
    row(
      `toolhost, cold start to first message, ${walled ? "with" : "without"} bubblewrap`,
      quantile(host, 0.5),
      baseline,
      walled ? 1.8 : 1.4,
    ),
  ];
}

/** The largest of the children's programs, as it lies, and where nothing of it is kept. docs/decision/0028. */
async function service(world: BenchWorld): Promise<Row> {
  const elsewhere = `${world.dir}/elsewhere/remote.js`;
  await Deno.mkdir(`${world.dir}/elsewhere`);
  await Deno.copyFile(world.bundles.remote, elsewhere);
  const kept = await world.children();
  const cold = await world.children({ bundles: { ...world.bundles, remote: elsewhere } });
  const needs = { role: "remote", at: { host: "127.0.0.1", port: 9 } } as const;
  const found: [number[], number[]] = [[], []];
  for (let i = -1; i < COLD; i++) {
    for (const [at, children] of [kept, cold].entries()) {
      const ms = await timed(async () =>
        await done(await children.model({ handler: DEAF, needs }))
      );
      if (i >= 0) found[at]?.push(ms);
    }
    for (const child of started.splice(0)) await child.kill();
  }
  const [value = NaN, baseline = NaN] = found.map((each) => quantile(each, 0.5));
  const name = "provider's model service, cold start, against one of which Deno has kept nothing";
  return atMost({ name, value, unit: "ms", baseline }, 0.6, "with nothing kept");
}

async function warm(world: BenchWorld): Promise<Row[]> {
  const standard = await fromPool(world, START);
  const foreign = await fromPool(world, { ...START, program: foreignProgram() });
  const [own = NaN, other = NaN] = [standard, foreign].map(({ bare }) => quantile(bare, 0.5));
  return [
    row("worker from the pool to first answer, median", quantile(standard.took, 0.5), own, 0.05),
    row("worker from the pool to first answer, p99", quantile(standard.took, 0.99), own, 0.2),
    // Its program is read and compiled beside: three times the median of the standard agent.
    row("foreign program of 48 KB from the pool, median", quantile(foreign.took, 0.5), other, 0.15),
  ];
}

/** Takes workers one after another, each time from a pool that is full again; bare starts between. */
async function fromPool(
  world: BenchWorld,
  body: Json,
): Promise<Record<"took" | "bare", readonly number[]>> {
  const found: number[] = [];
  const bare: number[] = [];
  const size = 10;
  while (found.length < WARM) {
    const before = world.ready();
    const children = await world.children({ pool: { workers: size, plugins: 0 } });
    await waitUntil("a full pool", () => world.ready() >= before + size || undefined);
    // TIMER: the last one warms its own code, of which it says nothing.
    await new Promise((resolve) => setTimeout(resolve, 40));
    for (let i = 0; i < size; i++) {
      found.push(
        await timed(async () => {
          const child = await children.worker(DEAF);
          await child.port.ask("start", body);
        }),
      );
    }
    await children.close();
    for (let i = 0; i < 3; i++) bare.push(await timed(() => runEmpty(world)));
  }
  return { took: found, bare };
}

const started: Child[] = [];

function done(child: Child): Promise<void> {
  started.push(child);
  return Promise.resolve();
}

async function toolhost(world: BenchWorld, children: Children): Promise<Child> {
  const { child } = await children.toolhost({
    mounts: [],
    content: `${world.dir}/content`,
    scratch: `${world.dir}/scratch`,
    writable: false,
    judge: () => ({ allow: false, reason: "Cannot: nothing is granted" }),
    handler: DEAF,
  });
  return child;
}

async function runEmpty(world: BenchWorld): Promise<void> {
  await new Deno.Command(world.deno, {
    args: ["run", `${world.dir}/empty.js`],
    clearEnv: true,
    env: { DENO_DIR: `${world.dir}/deno`, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
}

const PROVENANCE = { origin: "kernel", colour: "BLUE", label: "public" };
const START = {
  caps: { model: 1, tools: 2, children: 3 },
  limits: { outputTokens: 1, contextWindow: 1_000, iterations: 1, retries: 0 },
  conversation: [{ role: "system", content: "bench", provenance: PROVENANCE }],
};

/** An IIFE of about 48 KB that evaluates to a program. */
function foreignProgram(): string {
  const body = Array.from(
    { length: 480 },
    (_, n) =>
      `function f${n}(a, b) { const c = a + b * ${n}; return c > ${n} ? { c, t: "t${n}" } : null; }`,
  );
  return `(() => { ${
    body.join("\n")
  }; return { turn: async () => ({ stop: "answered", text: "" }) }; })()`;
}

function row(name: string, value: number, baseline: number, most: number): Row {
  return atMost({ name, value, unit: "ms", baseline }, most, "a bare deno run");
}
