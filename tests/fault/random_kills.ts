/** Kills kernels at random moments of a task that edits a folder, and looks at what is left. */
import assert from "node:assert/strict";
import type { TaskId } from "../../contracts/authority/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import type { Following } from "../fake/following.ts";
import { inHome, type KernelHome, type LiveKernel } from "../fake/kernel.ts";
import { EDITS, isAfter, makeDesk } from "./desk.ts";
import { nothingLost } from "./nothing_lost.ts";

/** Kills of one task before it is let through. */
const MAX_A_TASK = 4;
/** Share of kernels that are killed from their start on; the others, from the moment that they serve. */
const FROM_START = 0.25;
/** Milliseconds within which the first is killed; from then on as long as this machine takes. */
const FIRST_SPAN = 400;

/** What a run of kills came to. */
export interface Kills {
  kills: number;
  /** Kills before the kernel served, while a task was under way, and after it was done. */
  starting: number;
  working: number;
  idle: number;
  tasks: number;
}

/** A sequence of numbers in [0, 1) that a seed decides. */
function makeRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Kills until `count` is reached, in `lanes` homes at once. Throws on the first thing that is lost. */
export async function killAtRandom(
  { count, lanes, seed }: { readonly count: number; readonly lanes: number; readonly seed: number },
): Promise<Kills> {
  const tally: Kills = { kills: 0, starting: 0, working: 0, idle: 0, tasks: 0 };
  const lane = async (n: number): Promise<void> => {
    const random = makeRandom(seed + n);
    while (tally.kills < count) {
      // A new home now and then: a young log and an old one are cut off differently.
      await inHome(async (home) => {
        const driver = makeDriver(home, random, tally);
        for (let round = 0; round < 12 && tally.kills < count; round++) await driver.round(round);
      });
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, n) => lane(n)));
  return tally;
}

/** What clients of one home were told. */
interface Memory {
  head: string;
  readonly followed: Following[];
  readonly done: TaskId[];
}

function makeDriver(
  home: KernelHome,
  random: () => number,
  tally: Kills,
): { round(n: number): Promise<void> } {
  const memory: Memory = { head: "", followed: [], done: [] };
  const spans = { start: FIRST_SPAN, work: FIRST_SPAN };

  /** One kernel, killed at a random moment, or left alone when `spare`. Tells whether it got through. */
  const attempt = async (round: Round, spare: boolean): Promise<boolean> => {
    const began = performance.now();
    const kernel = home.launch();
    const fromStart = random() < FROM_START;
    const moment = random();
    let state: "starting" | "working" | "idle" = "starting";
    let killed = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const killWithin = (span: number): void => {
      // TIMER: the random moment.
      timer = setTimeout(() => {
        killed = true;
        void kernel.kill();
      }, moment * span);
    };
    if (!spare && fromStart) killWithin(spans.start);
    try {
      const live = await kernel.live;
      const served = performance.now();
      memory.head = live.head;
      state = "working";
      if (!spare && !fromStart) killWithin(spans.work);
      await pursue(live, round, memory);
      state = "idle";
      spans.start = (spans.start + (served - began) * 1.1) / 2;
      spans.work = (spans.work + (performance.now() - served) * 1.1) / 2;
      if (timer !== undefined && !killed) await kernel.died;
      if (spare) await check(live, round, memory);
    } catch (error) {
      if (!killed) throw error;
    } finally {
      clearTimeout(timer);
      await kernel.kill();
    }
    if (killed) {
      tally.kills++;
      tally[state]++;
    }
    return spare;
  };

  return {
    async round(n): Promise<void> {
      const folder = `${home.desk}/${n}`;
      await Deno.mkdir(folder);
      await makeDesk(folder);
      const round: Round = {
        request: `round ${n}`,
        draft: { scenario: EDITS, request: `round ${n}`, mounts: [home.mount({ dir: folder })] },
        folder,
        task: undefined,
      };
      const kills = 1 + Math.floor(random() * MAX_A_TASK);
      for (let i = 0; i < kills; i++) await attempt(round, false);
      await attempt(round, true);
      tally.tasks++;
    },
  };
}

interface Round {
  readonly request: string;
  readonly draft: Parameters<LiveKernel["run"]>[0];
  readonly folder: string;
  task: TaskId | undefined;
}

/** Has the round's task done, once: a client asks anew only for what it was not told to be there. */
async function pursue(live: LiveKernel, round: Round, memory: Memory): Promise<void> {
  const there = AgentTask.array().parse(await live.ask("tasks", { archived: true }));
  for (const task of [round.task, ...memory.done]) {
    assert.ok(task === undefined || there.some(({ id }) => id === task), `task ${task} is lost`);
  }
  round.task ??= there.find(({ request }) => request === round.request)?.id ??
    await live.run(round.draft);
  const following = await live.follow(round.task, { answer: "allow" });
  memory.followed.push(following);
  assert.deepEqual(await following.end, { status: "done", exit: 0 });
  if (!memory.done.includes(round.task)) memory.done.push(round.task);
}

async function check(live: LiveKernel, round: Round, memory: Memory): Promise<void> {
  await isAfter(round.folder);
  for (const following of memory.followed.splice(0)) {
    await nothingLost(live, following, memory.head);
  }
  for (const task of memory.done) {
    const state = AgentTask.parse(await live.ask("task", { task }));
    assert.equal(state.status, "done", "what was done stays done");
    assert.equal(state.applied.length, 1);
  }
}
