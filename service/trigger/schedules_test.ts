import assert from "node:assert/strict";
import { TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { ScheduleConfig } from "../../contracts/policy/mod.ts";
import { makeSchedules, readCron, type Schedules } from "./schedules.ts";
import type { Firing, SettledFirings } from "./firing.ts";

const at = (text: string): number => Date.parse(text);
const NIGHTLY: ScheduleConfig = { cron: "0 3 * * *", request: "Tidy the desk" };

/** Schedules on a hand-turned clock, over a kernel that makes one task for a session. */
function world(schedules: Record<string, ScheduleConfig>, start: string): {
  readonly fired: (readonly [string, string])[];
  readonly firings: Firing[];
  readonly notes: string[];
  readonly book: Map<string, SettledFirings>;
  readonly running: Set<TaskId>;
  open(): Promise<Schedules>;
  /** Puts the clock there, without anything ringing. */
  set(time: string): void;
  /** Lets time pass: every timer on the way rings. */
  pass(to: string): Promise<void>;
  fail(error: Fault | undefined): void;
} {
  let now = at(start);
  let failing: Fault | undefined;
  const timers = new Map<number, { readonly due: number; readonly then: () => void }>();
  const fired: (readonly [string, string])[] = [];
  const firings: Firing[] = [];
  const notes: string[] = [];
  const book = new Map<string, SettledFirings>();
  const tasks = new Map<string, TaskId>();
  const running = new Set<TaskId>();
  let n = 0;
  return {
    ...{ fired, firings, notes, book, running },
    async open(): Promise<Schedules> {
      timers.clear();
      const made = makeSchedules({
        schedules,
        at: (entry) => `remit.yaml:1 ${entry}`,
        fire(firing) {
          if (failing !== undefined) return Promise.reject(failing);
          const key = `${firing.ingress.principal} ${firing.session}`;
          const before = tasks.get(key);
          if (before !== undefined) return Promise.resolve({ task: before, already: true });
          const task = TaskId.parse(`t${String(tasks.size + 1).padStart(12, "0")}`);
          tasks.set(key, task);
          fired.push([firing.name, new Date(now).toISOString().slice(5, 19)]);
          firings.push(firing);
          return Promise.resolve({ task, already: false });
        },
        running: (task) => Promise.resolve(running.has(task)),
        book: {
          schedule: (name) => book.get(name),
          settle: (name, settled) => void book.set(name, settled),
        },
        now: () => now,
        after(ms, then) {
          const id = n++;
          timers.set(id, { due: now + ms, then });
          return () => void timers.delete(id);
        },
        note: (text) => void notes.push(text),
      });
      await made.start();
      return made;
    },
    set: (time) => void (now = at(time)),
    async pass(to): Promise<void> {
      for (;;) {
        const [next] = [...timers].filter(([, { due }]) => due <= at(to))
          .sort(([, a], [, b]) => a.due - b.due);
        if (next === undefined) break;
        timers.delete(next[0]);
        now = Math.max(now, next[1].due);
        next[1].then();
        // A round awaits a few settled promises before it sets its next timer.
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      }
      now = at(to);
    },
    fail: (error) => void (failing = error),
  };
}

Deno.test("a schedule fires at its times with the operator's words, BLUE and unattended", async () => {
  const w = world({ nightly: NIGHTLY }, "2026-05-01T02:59:30Z");
  await w.open();
  await w.pass("2026-05-03T12:00:00Z");
  assert.deepEqual(w.fired.map(([, time]) => time), [
    "05-01T03:00:00",
    "05-02T03:00:00",
    "05-03T03:00:00",
  ]);
  assert.equal(w.firings[0]?.request, "Tidy the desk");
  assert.deepEqual(w.firings[0]?.ingress, {
    channel: "schedule",
    principal: "schedule:nightly",
    colour: "BLUE",
    label: "internal",
  });
  assert.equal(new Set(w.firings.map(({ session }) => session)).size, 3);
});

Deno.test("a schedule that is new has missed nothing, whatever its rule", async () => {
  const w = world({ n: { ...NIGHTLY, missed: "all" } }, "2026-05-01T12:00:00Z");
  await w.open();
  assert.deepEqual(w.fired, []);
});

for (
  const [missed, times] of [
    ["skip", 0],
    ["once", 1],
    ["all", 4],
  ] as const
) {
  Deno.test(`four firings missed while nothing ran: ${missed} makes ${times}`, async () => {
    const w = world({ n: { ...NIGHTLY, missed } }, "2026-05-01T12:00:00Z");
    const first = await w.open();
    await first.stop();
    w.set("2026-05-05T12:00:00Z");
    await w.open();
    assert.equal(w.fired.length, times);
    // What was left out is settled: nothing is made up for a second time.
    await (await w.open()).stop();
    assert.equal(w.fired.length, times);
    await w.pass("2026-05-06T04:00:00Z");
    assert.equal(w.notes.some((note) => note.includes("were missed")), missed === "skip");
  });
}

Deno.test("years of missed firings cost no more than the newest hundred", async () => {
  const w = world(
    { n: { ...NIGHTLY, cron: "* * * * * *", missed: "all" } },
    "2020-01-01T00:00:00Z",
  );
  await (await w.open()).stop();
  w.set("2026-05-05T12:00:00Z");
  await w.open();
  assert.equal(w.fired.length, 100);
});

Deno.test("a crash after the task was made and before it was noted: the firing is not run again", async () => {
  const w = world({ n: NIGHTLY }, "2026-05-01T02:59:30Z");
  await w.open();
  const before = w.book.get("n");
  await w.pass("2026-05-01T03:00:10Z");
  assert.equal(w.fired.length, 1);
  if (before !== undefined) w.book.set("n", before);
  await w.open();
  assert.equal(w.fired.length, 1);
  assert.equal(w.book.get("n")?.task, "t000000000001");
});

Deno.test("a clock that is put back fires nothing twice; one that was far ahead goes on from now", async () => {
  const w = world({ n: { ...NIGHTLY, cron: "*/10 * * * *" } }, "2026-05-01T02:55:00Z");
  await w.open();
  await w.pass("2026-05-01T03:12:00Z");
  assert.equal(w.fired.length, 2);
  w.set("2026-05-01T02:58:00Z");
  await w.open();
  await w.pass("2026-05-01T03:15:00Z");
  assert.equal(w.fired.length, 2);
  await w.pass("2026-05-01T03:25:00Z");
  assert.equal(w.fired.length, 3);
  w.book.set("n", { upTo: at("2031-01-01T00:00:00Z"), skipped: 0 });
  await w.open();
  assert.ok(w.notes.some((note) => note.includes("the clock went back")));
  await w.pass("2026-05-01T03:31:00Z");
  assert.equal(w.fired.length, 4);
});

Deno.test("a machine that slept: the firing on waking runs where it is fresh, else by the rule", async () => {
  const w = world({ n: NIGHTLY }, "2026-05-01T02:00:00Z");
  await w.open();
  w.set("2026-05-01T03:00:40Z");
  await w.pass("2026-05-01T03:01:40Z");
  assert.equal(w.fired.length, 1);
  w.set("2026-05-02T05:00:00Z");
  await w.pass("2026-05-02T05:02:00Z");
  assert.equal(w.fired.length, 1);
});

Deno.test("a schedule whose last task still runs is left out, and noted", async () => {
  const w = world({ n: { ...NIGHTLY, cron: "* * * * *" } }, "2026-05-01T03:00:30Z");
  await w.open();
  await w.pass("2026-05-01T03:01:30Z");
  w.running.add(TaskId.parse("t000000000001"));
  await w.pass("2026-05-01T03:03:30Z");
  assert.equal(w.fired.length, 1);
  assert.equal(w.book.get("n")?.skipped, 2);
  w.running.clear();
  await w.pass("2026-05-01T03:04:30Z");
  assert.equal(w.fired.length, 2);
  assert.equal(w.notes.filter((note) => note.includes("still runs")).length, 2);
});

Deno.test("a kernel that is away is asked again within the minute; a request that it refuses is not", async () => {
  const w = world({ n: NIGHTLY }, "2026-05-01T02:59:30Z");
  await w.open();
  w.fail(new Fault("unavailable", "Cannot reach the kernel"));
  await w.pass("2026-05-01T03:00:20Z");
  w.fail(undefined);
  await w.pass("2026-05-01T03:01:20Z");
  assert.equal(w.fired.length, 1);
  w.fail(new Fault("invalidInput", "Cannot create a task"));
  await w.pass("2026-05-02T03:00:20Z");
  w.fail(undefined);
  await w.pass("2026-05-02T03:01:20Z");
  assert.equal(w.fired.length, 1);
});

Deno.test("time zones: an hour that is not there fires after it, one that comes twice fires once", () => {
  const paris = readCron({ cron: "30 2 * * *", timezone: "Europe/Paris" }, "schedule");
  const spring = paris.next(at("2026-03-28T12:00:00Z")) ?? 0;
  assert.equal(new Date(spring).toISOString(), "2026-03-29T01:00:00.000Z");
  const autumn = paris.next(at("2026-10-24T12:00:00Z")) ?? 0;
  assert.equal(new Date(autumn).toISOString(), "2026-10-25T00:30:00.000Z");
  assert.equal(new Date(paris.next(autumn) ?? 0).toISOString(), "2026-10-26T01:30:00.000Z");
  const span = paris.between(at("2026-10-24T12:00:00Z"), at("2026-10-26T12:00:00Z"), 10);
  assert.deepEqual(span, [autumn, at("2026-10-26T01:30:00Z")]);
});

Deno.test("times that do not parse, and zones that are not there, are refused with their line", async () => {
  for (const cron of ["* * * *", "61 * * * *", "* * * * * * *", "every day"]) {
    const w = world({ n: { ...NIGHTLY, cron } }, "2026-05-01T00:00:00Z");
    await assert.rejects(w.open(), /remit\.yaml:1 schedules\.n/);
  }
  assert.throws(
    () => readCron({ cron: "* * * * *", timezone: "Mars/North" }, "schedule (remit.yaml:9)"),
    /remit\.yaml:9/,
  );
});

Deno.test("schedules that begin on a full disk say so, and fire once there is room", async () => {
  const w = world({ nightly: NIGHTLY }, "2026-01-05T02:00:00Z");
  const { set } = w.book;
  w.book.set = () => {
    throw new Error("no space left on device");
  };
  await w.open();
  assert.deepEqual(w.notes, ["schedules: no space left on device"]);
  w.book.set = set;
  await w.pass("2026-01-05T02:30:00Z");
  await w.pass("2026-01-05T03:00:00Z");
  assert.equal(w.fired.length, 1);
});
