/**
 * Kernels of a fleet that are paused, cut off from the database or killed at random moments of a task whose effects an
 * outside ledger counts, while another takes over; then they go on. What must hold is looked at after each.
 */
import assert from "node:assert/strict";
import type { Question, TaskId } from "../../contracts/authority/mod.ts";
import { type Fleet, fleetVerifies, hasTask, inFleet, until } from "../fake/fleet.ts";
import { type Following, lasting } from "../fake/following.ts";
import type { KernelHome, LiveKernel } from "../fake/kernel.ts";
import { descendants } from "../fake/processes.ts";
import { type Ledger, ledgerKernel, openLedger } from "./ledger.ts";

/** What a run of rounds came to. */
export interface Pauses {
  rounds: number;
  /** Tasks that another kernel had at the end. */
  moved: number;
  /** Effects that their kernel made, and told of too late. */
  late: number;
  posts: number;
}

const MODES = ["pause", "cut", "kill"] as const;
/** Posts of a task. */
const POSTS = 3;
/** Events of a task after one of which its kernel is stopped, and milliseconds after that event. */
const PLACES = 18, SPAN = 15;

const scenario = (ledger: string): string => `
scenario: posts
turns:
${
  Array.from({ length: POSTS }, (_, i) =>
    `  - say: post ${i}\n    calls: [{ tool: ledger_post, args: { ledger: "${ledger}", repeats: false } }]`)
    .join("\n")
}
  - say: It is posted or not.
`;

/** A sequence of numbers in [0, 1) that a seed decides. */
function makeRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Yes to consent, no to what is in doubt: it may have happened. */
const decide = ({ kind }: Question): "allow" | "deny" => kind === "recovery" ? "deny" : "allow";

/** The processes of a kernel that speak to the database, and the walls around them. */
async function storeProcesses(kernel: number): Promise<readonly number[]> {
  const all = await descendants(kernel);
  return all.filter(({ command }) => command.includes("/store.js")).map(({ pid }) => pid);
}

function signalAll(pids: readonly number[], signal: Deno.Signal): void {
  for (const pid of pids) {
    try {
      Deno.kill(pid, signal);
    } catch (_error) {
      // It has ended.
    }
  }
}

/** Runs rounds until `count`; throws on the first thing that is lost, done twice or not told. */
export async function pauseAtRandom(
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<Pauses> {
  const tally: Pauses = { rounds: 0, moved: 0, late: 0, posts: 0 };
  const random = makeRandom(seed);
  await inFleet(2, async (fleet) => {
    await using ledger = openLedger(`${fleet.work}/s`);
    const [one, two] = fleet.homes;
    assert.ok(one && two);
    const kernels: [LiveKernel, LiveKernel] = [await one.start(), await two.start()];
    for (let n = 0; n < count; n++) {
      const mode = MODES[n % MODES.length] ?? "pause";
      const owner = n % 2;
      await round({ fleet, kernels, homes: [one, two], owner, mode, ledger, random, tally });
      tally.rounds++;
    }
  }, { bundle: await ledgerKernel(), leaseMs: 2_000 });
  return tally;
}

async function round(
  { fleet, kernels, homes, owner, mode, ledger, random, tally }: {
    readonly fleet: Fleet;
    readonly kernels: [LiveKernel, LiveKernel];
    readonly homes: readonly [KernelHome, KernelHome];
    readonly owner: number;
    readonly mode: typeof MODES[number];
    readonly ledger: Ledger;
    readonly random: () => number;
    readonly tally: Pauses;
  },
): Promise<void> {
  const doomed = kernels[owner === 0 ? 0 : 1], other = kernels[owner === 0 ? 1 : 0];
  const from = ledger.posts.length;
  const task = await doomed.run({
    scenario: scenario(ledger.socket),
    mounts: [],
    limits: { toolTimeoutMs: 1_000 },
  });
  const before = await doomed.follow(task, { answer: decide });
  const place = Math.floor(random() * PLACES);
  await Promise.race([before.first(({ n }) => n >= place), before.end]);
  // TIMER: the random moment after a random event.
  await new Promise((resolve) => setTimeout(resolve, random() * SPAN));
  const stopped = mode === "pause"
    ? [doomed.pid]
    : mode === "cut"
    ? await storeProcesses(doomed.pid)
    : [];
  if (mode === "kill") await doomed.kill();
  signalAll(stopped, "SIGSTOP");
  const stands = async (): Promise<readonly [number, boolean]> => {
    const [row] = await fleet.query(
      `SELECT k.name, t.over::int AS over FROM remit.tasks t JOIN remit.kernels k ON k.id = t.owner WHERE t.task = '${task}'`,
    );
    return [row?.["name"] === `k${owner}` ? owner : 1 - owner, Number(row?.["over"]) === 1];
  };
  // The other takes it over, unless it was done before.
  await until("a takeover", async () => {
    const [at, over] = await stands();
    return at !== owner || over ? true : undefined;
  });
  signalAll(stopped, "SIGCONT");
  if (mode === "kill") kernels[owner === 0 ? 0 : 1] = await homes[owner === 0 ? 0 : 1].start();
  const [at] = await stands();
  const keeper = kernels[at === 0 ? 0 : 1];
  await hasTask(keeper, task);
  const after = await keeper.follow(task, { answer: decide });
  const end = await after.end;
  const why = after.told.findLast(({ event }) => event === "taskStatus")?.private?.["reason"];
  assert.equal(end.status, "done", `${mode}: ${String(why)}\n${keeper.said()}`);
  if (at !== owner) tally.moved++;
  await holds({ fleet, task, before, after, posts: ledger.posts.slice(from), tally, mode });
  before.close();
  after.close();
  await fleetVerifies(other.pid === keeper.pid ? other : keeper);
}

/** Nothing that was told is lost, nothing was done twice, and what came too late was told. */
async function holds(
  { fleet, task, before, after, posts, tally, mode }: {
    readonly fleet: Fleet;
    readonly task: TaskId;
    readonly before: Following;
    readonly after: Following;
    readonly posts: readonly string[];
    readonly tally: Pauses;
    readonly mode: string;
  },
): Promise<void> {
  for (const event of before.told) {
    const kept = after.told.find(({ n }) => n === event.n);
    assert.ok(kept, `${mode}: event ${event.n} (${event.event}) is lost`);
    assert.deepEqual(lasting(kept), lasting(event), `${mode}: an event is what it was told to be`);
  }
  assert.equal(new Set(posts).size, posts.length, `${mode}: no effect was made twice`);
  const done =
    after.told.filter(({ event, body }) =>
      event === "outcome" && body["tool"] === "ledger_post" && body["outcome"] === "ok"
    ).length;
  const lateOnes = async (): Promise<number> => {
    const rows = await fleet.query(`SELECT body FROM remit.late WHERE task = '${task}'`);
    return rows.filter(({ body }) => JSON.parse(String(body)).outcome === "ok").length;
  };
  // Of a kernel that was killed nobody can tell: its intent became a question.
  if (mode !== "kill") {
    await until(
      `${posts.length - done} late effects of ${task}`,
      async () => await lateOnes() === posts.length - done ? true : undefined,
      120_000,
    );
  }
  tally.late += await lateOnes();
  tally.posts += posts.length;
}
