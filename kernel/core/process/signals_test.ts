import assert from "node:assert/strict";
import fc from "fast-check";
import { Pid } from "../../../contracts/authority/ids.ts";
import { EXIT } from "../../../contracts/base/mod.ts";
import { Signal } from "../../../contracts/task/mod.ts";
import { makeDeadlines } from "./limits.ts";
import { onBrakeAnswer, onSignal, type SignalState, spendsTooFast } from "./signals.ts";

const kinds = (state: SignalState, signal: Signal): readonly string[] =>
  onSignal(state, signal).actions.map(({ kind }) => kind);

Deno.test("SIGSTOP holds and SIGCONT releases, each once", () => {
  assert.deepEqual(onSignal("running", "SIGSTOP"), {
    next: "stopped",
    actions: [{ kind: "hold" }],
  });
  assert.deepEqual(kinds("stopped", "SIGSTOP"), []);
  assert.deepEqual(onSignal("stopped", "SIGCONT"), {
    next: "running",
    actions: [{ kind: "release" }],
  });
  assert.deepEqual(kinds("running", "SIGCONT"), []);
});

Deno.test("SIGBRAKE asks a person, and SIGCONT does not release the brake", () => {
  const { next, actions } = onSignal("running", "SIGBRAKE");
  assert.equal(next, "braked");
  assert.deepEqual(actions.map(({ kind }) => kind), ["hold", "deliver", "askBrake"]);
  assert.equal(onSignal("braked", "SIGCONT").next, "braked");
  assert.deepEqual(onBrakeAnswer("braked", true).actions, [{ kind: "release" }]);
  assert.deepEqual(onBrakeAnswer("braked", false).actions, [{
    kind: "end",
    exit: EXIT.budgetExhausted,
  }]);
  assert.equal(onBrakeAnswer("running", true).actions.length, 0);
});

Deno.test("SIGTERM and SIGXCPU let a process conclude in time, also one that is stopped", () => {
  for (
    const [signal, exit] of [["SIGTERM", EXIT.failure], ["SIGXCPU", EXIT.budgetExhausted]] as const
  ) {
    const { next, actions } = onSignal("stopped", signal);
    assert.equal(next, "concluding");
    assert.deepEqual(actions.map(({ kind }) => kind), ["release", "deliver", "conclude"]);
    assert.ok(actions.some((action) => action.kind === "conclude" && action.exit === exit));
  }
  assert.equal(onSignal("concluding", "SIGSTOP").next, "concluding");
});

Deno.test("SIGKILL ends in every state, SIGPIPE with 141, and the ended take nothing", () => {
  for (const state of ["running", "stopped", "braked", "concluding"] as const) {
    assert.equal(onSignal(state, "SIGKILL").next, "ended");
    assert.deepEqual(onSignal(state, "SIGPIPE").actions, [{ kind: "end", exit: 141 }]);
  }
  for (const signal of Signal.options) assert.deepEqual(onSignal("ended", signal).actions, []);
});

Deno.test("no sequence of signals wakes the ended or releases the brake without a person", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...Signal.options), { maxLength: 30 }), (signals) => {
      let state: SignalState = "running";
      let held = false;
      for (const signal of signals) {
        const before: SignalState = state;
        const { next, actions } = onSignal(before, signal);
        for (const { kind } of actions) {
          if (kind === "hold") assert.equal(held, false);
          if (kind === "release") assert.equal(held, true);
          if (kind === "hold") held = true;
          if (kind === "release") held = false;
        }
        if (before === "ended") assert.equal(next, "ended");
        if (before === "braked") {
          assert.ok(next === "braked" || next === "ended" || next === "concluding");
        }
        if (next === "running") assert.equal(held, false);
        state = next;
      }
    }),
  );
});

Deno.test("velocity is money within the last minute", () => {
  const payments = [{ at: 0, money: 0.4 }, { at: 30_000, money: 0.2 }];
  assert.ok(spendsTooFast(payments, 59_999, { moneyPerMinute: 0.5 }));
  assert.ok(!spendsTooFast(payments, 60_000, { moneyPerMinute: 0.5 }));
});

Deno.test("a deadline stands still while frozen and comes once", () => {
  let now = 0;
  let due = 0;
  let timer: { at: number; f: () => void } | undefined;
  const turn = (ms: number): void => {
    now += ms;
    if (timer === undefined || timer.at > now) return;
    const { f } = timer;
    timer = undefined;
    f();
  };
  const powers = {
    now: () => now,
    after(ms: number, f: () => void): () => void {
      const made = { at: now + ms, f };
      timer = made;
      return () => {
        if (timer === made) timer = undefined;
      };
    },
  };
  const deadlines = makeDeadlines(powers);
  const pid = Pid.parse(7);
  const deadline = deadlines.start(pid, 100, () => due++);
  turn(60);
  deadlines.freeze(pid);
  deadlines.freeze(pid);
  const resume = deadline.pause();
  turn(1_000);
  assert.equal(due, 0);
  deadlines.thaw(pid);
  deadlines.thaw(pid);
  turn(1_000);
  assert.equal(due, 0);
  resume();
  turn(39);
  assert.equal(due, 0);
  turn(1);
  assert.equal(due, 1);
  deadlines.freeze(pid);
  deadlines.thaw(pid);
  turn(1_000);
  assert.equal(due, 1);
});
