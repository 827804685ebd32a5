/** How a swarm ends whose time is over. */
import assert from "node:assert/strict";
import type { SwarmEvent } from "./events.ts";
import { beginState, type SwarmState, takeEvent } from "./journal.ts";
import { planOf } from "./plan.ts";
import { runScheduler, type SchedulerParts } from "./scheduler.ts";

const name = (letter: string): string => letter.repeat(40);

/** Issues `a`, which is merged, and `b`, whose task still runs. */
function begun({ merged }: { readonly merged: boolean }): SwarmState {
  const plan = planOf(
    { version: 1, issues: [{ id: "a", title: "A" }, { id: "b", title: "B" }] },
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
  const events: SwarmEvent[] = [
    assigned("b", 1),
    { kind: "started", at: 1, attempt: 1, task: "tb" },
    assigned("a", 2),
    { kind: "started", at: 1, attempt: 2, task: "ta" },
    {
      ...{ kind: "ended", at: 1, attempt: 2, money: 0 },
      outcome: { kind: "patch", commit: name("1"), tree: name("2"), paths: ["a"], said: "" },
    },
    { kind: "merging", at: 1, issue: "a", tip: from, commit: name("3"), paths: ["a"] },
    { kind: "merged", at: 1, issue: "a", commit: name("3") },
  ];
  for (const event of merged ? events : events.slice(0, 2)) takeEvent(state, event);
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
    hands: {
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
