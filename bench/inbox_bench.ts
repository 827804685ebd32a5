/**
 * Inboxes: messages that are checked and durable against plain inserts into the same store, how soon an idle task is
 * shown one against how soon it is shown a person's words, and what ten thousand keep in memory.
 * @module
 */
import { toJson } from "../contracts/base/mod.ts";
import type { DocumentWrite } from "../contracts/task/mod.ts";
import { type InboxWorld, openInboxWorld } from "./inbox/world.ts";
import { benchRequest, startBenchKernel } from "./_kernel.ts";
import { median } from "./quantile.ts";
import type { Row } from "./row.ts";

const BODY = 400;
const ROUNDS = 10;
const MANY = 10_000;
const LOOKS = 30;

const row = (part: Omit<Row, "ratio">): Row => ({
  ...part,
  ratio: part.baseline === 0 ? 0 : part.value / part.baseline,
});

let inserts = 0;
/** One row of the size of a message, in a commit of its own. */
function insertOf(): DocumentWrite {
  inserts += 1;
  return {
    ...{ kind: "plain", id: `p${inserts}`, task: "plain", expect: 0 },
    body: { text: "x".repeat(BODY + 300) },
  };
}

async function each(callers: number, calls: number, one: () => Promise<unknown>): Promise<number> {
  let left = calls;
  const start = performance.now();
  await Promise.all(Array.from({ length: callers }, async () => {
    while (left-- > 0) await one();
  }));
  return calls / ((performance.now() - start) / 1_000);
}

async function rates(world: InboxWorld, callers: number, calls: number, least: number) {
  const [values, baselines]: [number[], number[]] = [[], []];
  // In turns, so that both meet the same weather on a shared disk.
  for (let round = 0; round < ROUNDS; round++) {
    baselines.push(
      await each(
        callers,
        calls,
        () => world.store.commit({ events: [], blobs: [], documents: [insertOf()] }),
      ),
    );
    values.push(await each(callers, calls, () => world.put(BODY)));
  }
  const [value, baseline] = [median(values), median(baselines)];
  return row({
    name: `inbox: checked durable messages, ${callers} sender${callers === 1 ? "" : "s"}`,
    ...{ value, baseline, unit: "1/s" },
    target: `≥ ${least} of plain inserts, one a commit`,
    ok: value >= least * baseline,
  });
}

/** Messages a second, and memory. */
export async function inboxBench(): Promise<Row[]> {
  const dir = await Deno.makeTempDir({ prefix: "remit-bench-" });
  try {
    const world = await openInboxWorld(dir);
    const rows = [await rates(world, 1, 100, 0.4), await rates(world, 32, 640, 1)];
    await world.close();
    return [...rows, ...await memoryRows(dir)];
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

async function memoryRows(dir: string): Promise<Row[]> {
  const script = new URL("./inbox/memory.ts", import.meta.url).pathname;
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", "--v8-flags=--expose-gc", script, dir, `${MANY}`, `${BODY}`],
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("Cannot measure the memory of an inbox");
  const { waiting, settled } = JSON.parse(new TextDecoder().decode(stdout)) as {
    readonly waiting: number;
    readonly settled: number;
  };
  return [
    row({
      name: `inbox: memory of ${MANY} waiting messages of ${BODY} B, each`,
      value: Math.round(waiting / MANY),
      ...{ unit: "B", baseline: BODY, target: "≤ 4,000 B", ok: waiting / MANY <= 4_000 },
    }),
    row({
      name: `inbox: memory of ${MANY} settled messages, each`,
      value: Math.round(settled / MANY),
      ...{ unit: "B", baseline: BODY, target: "≤ 200 B", ok: settled / MANY <= 200 },
    }),
  ];
}

const SCENARIO = [
  "scenario: listens",
  "turns:",
  ...Array.from({ length: 2 * LOOKS + 1 }, () => "  - say: Yes."),
].join("\n");

/** From the asking to the event that has it in the conversation, and the turn after it under way. */
export async function deliveryBench(): Promise<Row[]> {
  const kernel = await startBenchKernel();
  try {
    const request = { ...benchRequest(SCENARIO, []), interactive: true };
    const { task } = await kernel.link.ask("run", toJson(request)) as { task: string };
    const happened: string[] = [];
    let wake = (): void => undefined;
    kernel.link.onTell((_op, body) => {
      const { event, private: secret } = body as { event?: string; private?: { answer?: string } };
      if (event === "message") happened.push("message");
      if (event === "taskStatus" && secret?.answer !== undefined) happened.push("over");
      wake();
    });
    const next = async (what: string): Promise<void> => {
      while (happened.shift() !== what) {
        if (happened.length === 0) await new Promise<void>((resolve) => wake = resolve);
      }
    };
    await kernel.link.ask("watch", { task, from: 0 });
    await next("over");
    const timed = async (ask: () => Promise<unknown>): Promise<number> => {
      const start = performance.now();
      await ask();
      await next("message");
      const took = performance.now() - start;
      await next("over");
      return took;
    };
    const [said, put]: [number[], number[]] = [[], []];
    for (let n = 0; n < LOOKS; n++) {
      // TIMER: the turn that is over is put aside a little later; a person is not that fast.
      await new Promise((resolve) => setTimeout(resolve, 20));
      said.push(await timed(() => kernel.link.ask("say", { task, text: "And now?" })));
      await new Promise((resolve) => setTimeout(resolve, 20));
      put.push(
        await timed(() =>
          kernel.link.ask("inboxPut", {
            message: {
              ...{ id: `look-${n}`, sender: "webhook:bench", kind: "status", body: "And now?" },
              ...{ artifactRefs: [], requestedActions: [], requestedAuthority: [] },
            },
            stamp: { box: `task:${task}`, colour: "RED", label: "public" },
          })
        ),
      );
    }
    const [value, baseline] = [median(put), median(said)];
    return [row({
      name: "inbox: from a message to the conversation of an idle task, median",
      ...{ value, baseline, unit: "ms" },
      target: "≤ 3× a person's words",
      ok: value <= 3 * baseline,
    })];
  } finally {
    await kernel.close();
  }
}
