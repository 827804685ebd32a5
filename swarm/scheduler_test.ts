/** How a swarm ends whose time is over. */
import assert from "node:assert/strict";
import { type Json, toJson } from "../contracts/base/mod.ts";
import { ResourceRef, SharedResource } from "../contracts/task/resources.ts";
import type { SwarmEvent } from "./events.ts";
import { beginState, type SwarmState, takeEvent } from "./journal.ts";
import { planOf } from "./plan.ts";
import { runScheduler, type SchedulerParts } from "./scheduler.ts";
import type { TaskAsk, TaskEnd } from "./workers.ts";

const name = (letter: string): string => letter.repeat(40);

/** Issues `a`, which is merged (`moved`: the branch is, and its record is not), and `b`, whose task still runs; with `paths` it has none yet. */
function begun(
  { merged, paths, read = {} }: {
    readonly merged: boolean | "moved";
    readonly paths?: readonly string[];
    /** What the author of `a` had read. */
    readonly read?: Pick<TaskEnd, "label" | "colour">;
  },
): SwarmState {
  const declared = paths === undefined ? {} : { paths };
  const plan = planOf(
    {
      version: 1,
      issues: [{ id: "a", title: "A", ...declared }, { id: "b", title: "B", ...declared }],
    },
    (why) => new Error(why),
  );
  const from = name("0");
  const state = beginState({
    ...{
      kind: "begun",
      id: "sw000000000001",
      at: 1,
      base: from,
      folder: "/x",
      mount: "repo",
      plan,
    },
  });
  const assigned = (issue: string, attempt: number): SwarmEvent => ({
    ...{ kind: "assigned", at: 1, attempt, issue, work: "author", role: "coder", model: "" },
    ...{ provider: "p", from, session: `s${attempt}` },
  });
  const under: SwarmEvent[] = [
    assigned("b", 1),
    { kind: "started", at: 1, attempt: 1, task: "tb" },
  ];
  const own = paths === undefined ? 2 : 1;
  const events: SwarmEvent[] = [
    ...(paths === undefined ? under : []),
    assigned("a", own),
    { kind: "started", at: 1, attempt: own, task: "ta00000000000" },
    {
      ...{ kind: "ended", at: 1, attempt: own, money: 0, ...read },
      outcome: { kind: "patch", commit: name("1"), tree: name("2"), paths: ["a"], said: "" },
    },
    { kind: "merging", at: 1, issue: "a", tip: from, commit: name("3"), paths: ["a"] },
    { kind: "merged", at: 1, issue: "a", commit: name("3") },
  ];
  const made = merged === "moved" ? events.slice(0, -1) : merged ? events : events.slice(0, 2);
  for (const event of made) takeEvent(state, event);
  return state;
}

async function run(state: SwarmState, stopped = false) {
  const written: SwarmEvent[] = [], cancelled: string[] = [];
  const parts = {
    state,
    tasks: {
      follow: () => Promise.resolve(cancelled.length === 0 ? undefined : { money: 0.5 }),
      staged: () => Promise.resolve([]),
      cancel: (task: string) => Promise.resolve(void cancelled.push(task)),
    },
    powers: {
      now: () => 1 + 1e12,
      rest: () => new Promise(() => undefined),
      clear: () => Promise.resolve(),
    },
    ...{ mirror: {}, check: {}, rooms: "/rooms", record: [] },
    write: (event: SwarmEvent) => Promise.resolve(void written.push(event)),
    take: takeEvent,
    say: () => undefined,
  } as unknown as SchedulerParts;
  const stop = new AbortController();
  if (stopped) stop.abort();
  return { finished: await runScheduler(parts, stop.signal), written, cancelled };
}

Deno.test("a swarm whose minutes are over gives up what is open, ends its tasks, and keeps what it merged", async () => {
  const state = begun({ merged: true });
  const { finished, cancelled } = await run(state);
  assert.equal(finished.status, "partly");
  assert.match(finished.why, /minutes are over: 1 of 2/);
  assert.deepEqual(cancelled, ["tb"]);
  assert.equal(state.issues.get("b")?.status, "failed");
  assert.match(state.issues.get("b")?.why ?? "", /minutes are over/);
  assert.equal(state.issues.get("a")?.status, "merged");
  assert.equal(state.attempts[0]?.ended?.money, 0.5);
});

Deno.test("one that merged nothing in its minutes has failed; one that its person stopped goes on later", async () => {
  assert.equal((await run(begun({ merged: false }))).finished.status, "failed");
  const state = begun({ merged: true });
  const { finished } = await run(state, true);
  assert.equal(finished.status, "stopped");
  assert.equal(state.issues.get("b")?.status, "open");
});

const REPOSITORY = ResourceRef.parse("gitRepository:repo");

/** Goes on after a was merged, with `held` claims in the registry; ends once b is at work. Gives how often it rested. */
async function goesOn(
  held: { readonly task: string; readonly n: number },
  freed: (rests: number, released: readonly string[]) => boolean,
): Promise<{ readonly rests: number; readonly released: readonly string[]; state: SwarmState }> {
  const state = begun({ merged: true, paths: ["src/"] });
  const released: string[] = [];
  let rests = 0;
  const leases = (): readonly Json[] =>
    freed(rests, released) ? [] : Array.from({ length: held.n }, (_, n) => ({
      ...{ id: `r${String(n).padStart(12, "0")}`, resource: REPOSITORY, mode: "exclusive" },
      ...{ scope: held.n === 1 ? "src" : `other/${n}`, owner: { task: held.task, agent: "coder" } },
      ...{ phase: "work", claimedAt: 1, expiresAt: 900_000, renewals: 0, until: 86_400_000 },
      ...{ standing: true, colour: "BLUE", label: "internal" },
    }));
  const parts = {
    state,
    tasks: {
      provider: () => "p",
      resources(body: { readonly do: string; readonly claim?: string }): Promise<Json> {
        if (body.do === "release") released.push(body.claim ?? "");
        const all = leases();
        if (body.do !== "list" || all.length === 0) return Promise.resolve([]);
        return Promise.resolve([toJson(SharedResource.parse({
          ...{ ref: REPOSITORY, createdAt: 1, generation: 1, leases: all },
          ...{ conflicts: [], watches: [], versions: [], items: [] },
        }))]);
      },
    },
    powers: {
      now: () => 100_000,
      rest: () => Promise.resolve(void (rests += 1)),
      clear: () => Promise.resolve(),
    },
    mirror: { tip: () => Promise.reject(new Error("b is at work")) },
    ...{ check: {}, rooms: "/rooms", record: [], resource: REPOSITORY },
    write: () => Promise.resolve(),
    take: takeEvent,
    say: () => undefined,
  } as unknown as SchedulerParts;
  await assert.rejects(runScheduler(parts, new AbortController().signal), /b is at work/);
  return { rests, released, state };
}

Deno.test("what a scheduler that was killed left claimed for a merged issue is let go, and the next one goes on", async () => {
  const one = await goesOn({ task: "ta00000000000", n: 1 }, (_, released) => released.length > 0);
  assert.equal(one.released.length, 1);
  assert.equal(one.state.issues.get("b")?.status, "open");
});

Deno.test("an issue for which the registry has no room waits for it, a second at a time, and is not given up", async () => {
  const { rests, state } = await goesOn({ task: "tother0000000", n: 256 }, (rests) => rests > 2);
  assert(rests > 2 && rests < 10, String(rests));
  assert.equal(state.issues.get("b")?.status, "open");
});

Deno.test("who works on a tree with another issue's merged change begins with the colour and label of its author", async () => {
  const cases: readonly (readonly [Pick<TaskEnd, "label" | "colour">, string, string])[] = [
    [{ label: "secret", colour: "RED" }, "secret", "RED"],
    [{ label: "internal", colour: "YELLOW" }, "internal", "YELLOW"],
    // A journal of before says neither: the colour may have been any.
    [{}, "public", "RED"],
  ];
  // A scheduler that was killed between the two left the branch moved, and no record of it.
  const both = cases.flatMap((each) =>
    ([true, "moved"] as const).map((left) => [left, each] as const)
  );
  for (const [left, [read, label, merged]] of both) {
    const state = begun({ merged: left, paths: ["src/"], read });
    const asked: TaskAsk[] = [];
    const parts = {
      state,
      tasks: {
        provider: () => "p",
        resources: () => Promise.resolve([]),
        start(ask: TaskAsk): Promise<string> {
          asked.push(ask);
          return Promise.reject(new Error("b is at work"));
        },
      },
      powers: {
        now: () => 100_000,
        rest: () => new Promise(() => undefined),
        plant: () => Promise.resolve(),
      },
      mirror: {
        tip: () => Promise.resolve(name("3")),
        treeOf: () => Promise.resolve(name("4")),
        tree: () => Promise.resolve({ files: [] }),
        planted: () => [],
      },
      ...{ check: {}, rooms: "/rooms", record: [], resource: REPOSITORY },
      sessionOf: (n: number) => `s${n}`,
      write: () => Promise.resolve(),
      take: takeEvent,
      say: () => undefined,
    } as unknown as SchedulerParts;
    await assert.rejects(runScheduler(parts, new AbortController().signal), /b is at work/);
    assert.deepEqual([asked[0]?.label, asked[0]?.merged, asked[0]?.heard], [label, merged, false]);
  }
});
