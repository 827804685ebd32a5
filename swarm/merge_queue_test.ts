import assert from "node:assert/strict";
import type { SwarmEvent } from "./events.ts";
import { beginState, takeEvent } from "./journal.ts";
import { makeMergeQueue } from "./merge_queue.ts";
import type { Merge } from "./mirror.ts";
import { planOf } from "./plan.ts";

const BASE = "0".repeat(40);
const named = (letter: string): string => letter.repeat(40);

/** Two issues, each with a change that was approved. */
function twoApproved(): ReturnType<typeof beginState> {
  const plan = planOf(
    { version: 1, issues: [{ id: "a", title: "A" }, { id: "b", title: "B" }] },
    (why) => new Error(why),
  );
  const state = beginState({
    ...{
      kind: "begun",
      id: "sw000000000001",
      at: 1,
      base: BASE,
      folder: "/x",
      mount: "repo",
      plan,
    },
  });
  for (const [at, issue] of ["a", "b"].entries()) {
    const attempt = at + 1;
    const outcome = {
      kind: "patch",
      commit: named(String(attempt)),
      tree: named(issue),
      paths: [issue],
      said: "",
    } as const;
    const assigned = {
      kind: "assigned",
      at: 1,
      attempt,
      issue,
      work: "author",
      role: "coder",
      model: "",
      provider: "p",
    } as const;
    takeEvent(state, { ...assigned, from: BASE, session: `s${attempt}` });
    takeEvent(state, { kind: "started", at: 1, attempt, task: `t${attempt}` });
    takeEvent(state, {
      kind: "ended",
      at: 1,
      attempt,
      money: 0,
      outcome: { ...outcome, paths: [issue] },
    });
  }
  return state;
}

interface World {
  readonly queue: ReturnType<typeof makeMergeQueue>;
  readonly events: string[];
  tip: string;
}

function world(
  state: ReturnType<typeof beginState>,
  parts: {
    readonly tip: string;
    readonly merge?: (ours: string, theirs: string) => Merge;
    readonly swaps?: boolean;
    readonly good?: boolean;
  },
): World {
  const events: string[] = [];
  const made: World = {
    ...{ events, tip: parts.tip },
    queue: makeMergeQueue({
      state,
      mirror: {
        tip: () => Promise.resolve(made.tip),
        treeOf: (commit) => Promise.resolve(`tree of ${commit}`),
        merge: (ours, theirs) =>
          Promise.resolve(
            parts.merge?.(ours, theirs) ??
              { kind: "merged", tree: named(ours === BASE ? "e" : "f") },
          ),
        commitTree: (_, { parent }) => Promise.resolve(named(parent === BASE ? "c" : "d")),
        swap(to, from) {
          if (parts.swaps === false || from !== made.tip) return Promise.resolve(false);
          made.tip = to;
          return Promise.resolve(true);
        },
      },
      check: () => Promise.resolve({ ok: parts.good ?? true, said: "said" }),
      record(event: SwarmEvent) {
        takeEvent(state, event);
        events.push(`${event.kind} ${"issue" in event ? event.issue : ""}`);
        return Promise.resolve();
      },
      now: () => 2,
    }),
  };
  return made;
}

Deno.test("a merge that moved the branch before a crash is written down before anything else is merged", async () => {
  const state = twoApproved();
  takeEvent(state, {
    kind: "merging",
    at: 2,
    issue: "a",
    tip: BASE,
    commit: named("c"),
    paths: ["a"],
  });
  const { queue, events } = world(state, { tip: named("c") });
  await queue("b");
  await queue("a");
  assert.deepEqual(events, ["merged a", "checked b", "merging b", "merged b"]);
  assert.deepEqual(state.merges.map(({ issue }) => issue.id), ["a", "b"]);
});

Deno.test("a merge that was begun and moved nothing is done again; one at a time, however many ask", async () => {
  const state = twoApproved();
  takeEvent(state, {
    kind: "merging",
    at: 2,
    issue: "a",
    tip: BASE,
    commit: named("c"),
    paths: ["a"],
  });
  const { queue, events } = world(state, { tip: BASE });
  await Promise.all([queue("a"), queue("b")]);
  assert.deepEqual(events, [
    "checked a",
    "merging a",
    "merged a",
    "checked b",
    "merging b",
    "merged b",
  ]);
});

Deno.test("a branch that somebody else moved is not overwritten; a change that is there already comes to nothing", async () => {
  const moved = world(twoApproved(), { tip: BASE, swaps: false });
  await assert.rejects(moved.queue("a"), /moved by somebody else; nothing of it was overwritten/);
  assert.deepEqual(moved.events, ["checked a", "merging a"]);
  const state = twoApproved();
  const same = world(state, {
    tip: BASE,
    merge: () => ({ kind: "merged", tree: `tree of ${BASE}` }),
  });
  await same.queue("a");
  assert.deepEqual(same.events, ["closed a"]);
});

Deno.test("what fails the checks once merged, or conflicts, is no change any more, and the next worker is told", async () => {
  const failing = twoApproved();
  await world(failing, { tip: BASE, good: false }).queue("a");
  assert.equal(failing.issues.get("a")?.work, undefined);
  assert.match(failing.issues.get("a")?.handoffs.at(-1)?.why ?? "", /checks fail/);
  const state = twoApproved();
  const { queue } = world(state, {
    tip: BASE,
    merge: (ours) =>
      ours === BASE ? { kind: "merged", tree: named("e") } : { kind: "conflict", paths: ["a"] },
  });
  await queue("a");
  await queue("b");
  assert.deepEqual(state.issues.get("b")?.conflicts[0]?.others, [{ issue: "a", task: "t1" }]);
});
