import assert from "node:assert/strict";
import type { SwarmEvent } from "./events.ts";
import { beginState, readState, takeEvent } from "./journal.ts";
import { planOf } from "./plan.ts";
import { chooseByRecord, plotLines, trackRecord } from "./track_record.ts";

const OID = "a".repeat(40);
const REVIEW = {
  verdict: "approve",
  behaviour: "b",
  security: "s",
  tests: "t",
  residualDoubt: "r",
  findings: [],
} as const;

const begun = (): SwarmEvent => ({
  ...{ kind: "begun", id: "sw000000000001", at: 1, base: OID, folder: "/x", mount: "repo" },
  plan: planOf(
    { version: 1, issues: [{ id: "a", title: "A" }, { id: "b", title: "B" }] },
    (why) => new Error(why),
  ),
});
const assigned = (
  attempt: number,
  issue = "a",
  more: Partial<Extract<SwarmEvent, { kind: "assigned" }>> = {},
): SwarmEvent => ({
  ...{
    kind: "assigned",
    at: 2,
    attempt,
    issue,
    work: "author",
    role: "coder",
    model: "m",
    provider: "p",
  },
  ...{ from: OID, session: `s${attempt}` },
  ...more,
});
const started = (attempt: number): SwarmEvent => ({
  kind: "started",
  at: 3,
  attempt,
  task: `t${attempt}`,
});
const patch = (attempt: number): SwarmEvent => ({
  ...{ kind: "ended", at: 4, attempt, money: 0.5 },
  outcome: { kind: "patch", commit: OID, tree: OID, paths: ["x"], said: "" },
});
const approved = (attempt: number): SwarmEvent => ({
  ...{ kind: "ended", at: 5, attempt, money: 0.1 },
  outcome: { kind: "approved", review: { ...REVIEW, findings: [] } },
});
const reviewer = { work: "review", role: "reviewer" } as const;
const merging: SwarmEvent = {
  kind: "merging",
  at: 6,
  issue: "a",
  tip: OID,
  commit: "b".repeat(40),
  paths: ["x"],
};
const merged: SwarmEvent = { kind: "merged", at: 7, issue: "a", commit: "b".repeat(40) };

const told = (...events: readonly SwarmEvent[]): ReturnType<typeof beginState> => {
  const state = beginState(begun());
  for (const event of events) takeEvent(state, event);
  return state;
};

Deno.test("what contradicts the journal is refused, whoever writes it", () => {
  const way = [
    assigned(1),
    started(1),
    patch(1),
    assigned(2, "a", reviewer),
    started(2),
    approved(2),
    merging,
    merged,
  ];
  const cases: readonly (readonly [readonly SwarmEvent[], RegExp])[] = [
    [[begun()], /begins twice/],
    [[assigned(1), assigned(2)], /is worked on already/],
    [[assigned(1), assigned(1, "b")], /assigned twice/],
    [[assigned(1), assigned(2, "b", { session: "s1" })], /assigned twice/],
    [
      [assigned(1), assigned(2, "b"), started(1), { ...started(2), task: "t1" } as SwarmEvent],
      /works on two things/,
    ],
    [[assigned(1, "c")], /no issue "c"/],
    [[started(1)], /not under way/],
    [[assigned(1), started(1), patch(1), patch(1)], /not under way/],
    [
      [...way.slice(0, 3), assigned(2, "a", { work: "review" })],
      /the author of "a" would review it/,
    ],
    [[merging], /nothing to merge/],
    [[...way.slice(0, 3), merged], /merged without having been checked/],
    [[...way, assigned(3)], /is merged already/],
    [[...way, merged], /is merged already/],
  ];
  for (const [events, why] of cases) assert.throws(() => told(...events), why);
  const state = told(...way);
  assert.deepEqual([state.issues.get("a")?.status, state.merges.length], ["merged", 1]);
});

Deno.test("a journal is read back to the same state; a line that is no event is named", () => {
  const events = [begun(), assigned(1), started(1), patch(1)];
  const lines = events.map((event) => JSON.stringify(event));
  assert.deepEqual(
    readState(lines)?.issues.get("a")?.work,
    told(...events.slice(1)).issues.get("a")?.work,
  );
  assert.equal(readState([]), undefined);
  assert.throws(() => readState([...lines, "{"]), /line 5 is not JSON/);
  assert.throws(() => readState([...lines, '{"kind":"merged"}']), /line 5/);
  assert.throws(() => readState(lines.slice(1)), /does not say how it began/);
});

Deno.test("the record tells finished from rejected and failed, and the next assignment follows it", () => {
  const rejected: SwarmEvent = {
    ...{ kind: "ended", at: 5, attempt: 2, money: 0.1 },
    outcome: {
      kind: "rejected",
      review: { ...REVIEW, verdict: "reject", findings: [{ path: "x", what: "w" }] },
    },
  };
  const empty: SwarmEvent = {
    ...{ kind: "ended", at: 5, attempt: 3, money: 0 },
    outcome: { kind: "nothing", reason: "empty", why: "w", said: "" },
  };
  const rows = trackRecord([told(
    ...[assigned(1), started(1), patch(1), assigned(2, "a", reviewer), started(2), rejected],
    ...[assigned(3), started(3), empty, assigned(4, "a", { model: "good" }), started(4), patch(4)],
    ...[assigned(5, "a", reviewer), started(5), approved(5), merging, merged],
  )]);
  const short = rows.map((
    { role, model, tried, finished, rejected, failed },
  ) => [role, model, tried, finished, rejected, failed]);
  assert.deepEqual(short, [
    ["coder", "good", 1, 1, 0, 0],
    ["coder", "m", 2, 0, 1, 1],
    ["reviewer", "m", 2, 2, 0, 0],
  ]);
  assert.equal(chooseByRecord(["m", "new", "good"], "coder", rows), "good");
  assert.equal(chooseByRecord(["m", "new"], "coder", rows), "new");
  // Who tried this very issue comes last.
  assert.equal(chooseByRecord(["m", "good"], "coder", rows, ["good"]), "m");
  const [first = ""] = plotLines(rows, (text) => text);
  assert.match(
    first,
    /^coder {2}good +█{24} {2}1 of 1 finished, 0 rejected, 0 failed, 0\.5000 USD$/,
  );
});

Deno.test("votes are counted: a change goes back at as many rejections as the plan says, and stands at its approvals", () => {
  const rejected = (attempt: number): SwarmEvent => ({
    ...{ kind: "ended", at: 5, attempt, money: 0 },
    outcome: {
      kind: "rejected",
      review: { ...REVIEW, verdict: "reject", findings: [{ path: "x", what: `worse ${attempt}` }] },
    },
  });
  const first = begun();
  if (first.kind !== "begun") throw new Error();
  const state = beginState({ ...first, plan: { ...first.plan, reviews: 2, rejections: 2 } });
  const review = (attempt: number, end: SwarmEvent): void => {
    for (const event of [assigned(attempt, "a", reviewer), started(attempt), end]) {
      takeEvent(state, event);
    }
  };
  for (const event of [assigned(1), started(1), patch(1)]) takeEvent(state, event);
  const a = state.issues.get("a");
  review(2, rejected(2));
  review(3, approved(3));
  assert.deepEqual([a?.approvals.length, a?.rejections.length, a?.handoffs.length], [1, 1, 0]);
  assert.notEqual(a?.work, undefined);
  review(4, rejected(4));
  assert.equal(a?.work, undefined);
  assert.match(a?.handoffs[0]?.why ?? "", /2 reviewers rejected it/);
  assert.match(a?.handoffs[0]?.verification ?? "", /worse 2[\s\S]*worse 4/);
  // Votes are those of one change.
  for (const event of [assigned(5), started(5), patch(5)]) takeEvent(state, event);
  assert.deepEqual([a?.approvals.length, a?.rejections.length], [0, 0]);
});
