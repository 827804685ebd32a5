import fc from "fast-check";
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { Pid, SessionId, TaskId } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import { type NewEvent, type ProcessRow, SpendingBudget } from "../../../contracts/task/mod.ts";
import { makeStandingBudgets } from "./standing_budgets.ts";
import { Ingress } from "../../../contracts/task/task.ts";
import type { FindTask } from "../../core/log/spending.ts";
import type { User } from "../../../contracts/task/spending.ts";
import { makeUses } from "./uses.ts";

const NOON = Date.UTC(2026, 10, 27, 12);
const task = TaskId.parse("t000000000001"), other = TaskId.parse("t000000000002");
const pid = Pid.parse(7);

/** Uses under a hand-turned clock, and what they wrote. */
function world(
  budgets: readonly SpendingBudget[],
  sessions: Readonly<Record<string, string>> = {},
) {
  const find: FindTask = (id) => {
    const session = sessions[id];
    const ingress = { channel: "terminal", principal: "alice", colour: "BLUE", label: "public" };
    return session === undefined
      ? undefined
      : { session: SessionId.parse(session), ingress: Ingress.parse(ingress) };
  };
  const written: NewEvent[] = [];
  const standing = makeStandingBudgets(budgets.map((each) => SpendingBudget.parse(each)), {
    now: () => NOON,
  });
  const uses = makeUses({
    budgets: standing,
    find,
    processes: { get: () => ({ spec: "scout", principal: "alice" } as unknown as ProcessRow) },
    log: {
      append: (_task, events) => {
        written.push(...events);
        return Promise.resolve([]);
      },
    },
  });
  return { standing, uses, written, find };
}

const of = (id: TaskId): User => ({ task: id, pid });

Deno.test("what is used is on record before it is used, and the budget that runs out is told of once, before", async () => {
  const { uses, written } = world([{ per: "day", tabs: 5 }]);
  for (let n = 0; n < 5; n++) await uses.take(of(task), { tabs: 1 }, "open a page");
  deepEqual(written.map(({ kind }) => kind), [
    ...["budgetUsed", "budgetUsed", "budgetUsed", "budgetUsed", "budgetNear", "budgetUsed"],
  ]);
  equal(written[4]?.body["near"], "the budget of 5 tabs a day: 4 tabs used");
  await rejects(
    uses.take(of(task), { tabs: 1 }, "open a page"),
    (error) =>
      error instanceof Fault && error.code === "budgetExhausted" &&
      error.message ===
        'Cannot open a page: the budget of 5 tabs a day is used up (5 tabs used, 1 tabs more asked for); raise it in "budgets" of remit.yaml, or wait for the next day',
  );
  equal(written.length, 6, "what was refused is not on record as used");
});

Deno.test("a task's own sum is no other task's, and ends with it", async () => {
  const { uses, standing } = world([{ per: "task", egressBytes: 1_000 }]);
  await uses.take(of(task), { egressBytes: 900 }, "fetch");
  await rejects(uses.take(of(task), { egressBytes: 200 }, "fetch"), /900 bytes of egress used/);
  await uses.take(of(other), { egressBytes: 200 }, "fetch");
  deepEqual((await standing.standings()).map(({ spent }) => spent), [900, 200]);
  standing.forget(task);
  deepEqual((await standing.standings()).map(({ spent }) => spent), [200]);
});

Deno.test("what is there at one moment counts until it is let go, once, and nothing of it is kept", async () => {
  const { uses, written } = world([{ per: "moment", processes: 2, each: "agent" }]);
  const first = await uses.take(of(task), { processes: 1 }, "start it");
  await uses.take(of(other), { processes: 1 }, "start it");
  await rejects(uses.take(of(task), { processes: 1 }, "start it"), (error) => {
    match(String(error), /the budget of 2 processes at once for agent scout is used up/);
    match(String(error), /or wait until one of those at work has ended/);
    return true;
  });
  first();
  first();
  await uses.take(of(task), { processes: 1 }, "start it");
  await rejects(uses.take(of(task), { processes: 1 }, "start it"));
  deepEqual(written.map(({ kind }) => kind), ["budgetNear"]);
});

Deno.test("of two amounts the one that does not fit leaves nothing of the other at that moment", async () => {
  const { uses, standing } = world([
    { per: "moment", processes: 3 },
    { per: "moment", memoryBytes: 5 },
  ]);
  await uses.take(of(task), { processes: 1, memoryBytes: 4 }, "start it");
  await rejects(uses.take(of(task), { processes: 1, memoryBytes: 4 }, "start it"));
  deepEqual((await standing.standings()).map(({ held }) => held), [1, 4]);
});

Deno.test("what was used already is counted past the budget, and then nothing more fits", async () => {
  const { uses } = world([{ per: "month", indexBytes: 100 }]);
  await uses.take({ task: undefined }, { indexBytes: 1 }, "take sources in");
  await uses.take({ task: undefined, past: true }, { indexBytes: 500 }, "take sources in");
  await rejects(uses.take({ task: undefined }, { indexBytes: 1 }, "take sources in"), /501 bytes/);
});

Deno.test("many at once never take more than there is, in any order and of any sizes", async () => {
  await fc.assert(fc.asyncProperty(
    fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 30 }),
    async (sizes) => {
      const { uses, standing } = world([{ per: "day", egressBytes: 100 }]);
      const came = await Promise.allSettled(
        sizes.map((egressBytes) => uses.take(of(task), { egressBytes }, "fetch")),
      );
      const taken = came.reduce(
        (sum, { status }, n) => status === "fulfilled" ? sum + (sizes[n] ?? 0) : sum,
        0,
      );
      equal((await standing.standings())[0]?.spent, taken);
      equal(taken <= 100, true);
    },
  ));
});

Deno.test("after a kill the log says what was used; a moment's is over, and so is that of tasks that ended", async () => {
  const { standing } = world([
    { per: "day", tabs: 10 },
    { per: "task", tabs: 5 },
    { per: "moment", tabs: 3 },
  ]);
  const used = [{ at: NOON - 1_000, task, child: undefined, of: "tabs" as const, amount: 2 }, {
    ...{ at: NOON - 2_000, task: other, child: undefined, of: "tabs" as const, amount: 3 },
  }];
  await standing.seedUsed(
    async function* () {
      yield* used;
    }(),
    () => undefined,
    { live: new Set([task]) },
  );
  deepEqual((await standing.standings()).map(({ per, spent, held }) => [per, spent, held]), [
    ["day", 5, 0],
    ["task", 2, 0],
    ["moment", 0, 0],
  ]);
});

Deno.test("a budget of nothing, of two things, or of a span that its thing has not is refused", () => {
  const taken = (budget: object): boolean => SpendingBudget.safeParse(budget).success;
  equal(taken({ per: "day" }), false);
  equal(taken({ per: "day", tabs: 1, money: 1 }), false);
  equal(taken({ per: "moment", money: 1 }), false);
  equal(taken({ per: "day", memoryBytes: 1 }), false);
  equal(taken({ per: "task", tabs: 1, each: "agent" }), false);
  equal(taken({ per: "task", tabs: 1, agent: "scout" }), true);
});

Deno.test("a task that failed and is resumed by a later kernel goes on with what it had used; nothing is counted twice", async () => {
  const { standing, uses } = world([{ per: "day", tabs: 10 }, { per: "task", tabs: 5 }]);
  const used = [{ at: NOON - 1_000, task, child: undefined, of: "tabs" as const, amount: 4 }];
  const log = async function* () {
    yield* used;
  };
  // At the start it was over.
  await standing.seedUsed(log(), () => undefined, { live: new Set() });
  const again = { live: new Set([task]), again: true };
  await standing.seedUsed(log(), () => undefined, again);
  const stands = async () => (await standing.standings()).map(({ per, spent }) => [per, spent]);
  deepEqual(await stands(), [["day", 4], ["task", 4]]);
  await standing.seedUsed(log(), () => undefined, again);
  deepEqual(await stands(), [["day", 4], ["task", 4]]);
  await uses.take(of(task), { tabs: 1 }, "open a page");
  await rejects(uses.take(of(task), { tabs: 1 }, "open a page"), /5 tabs a task .* is used up/);
});

Deno.test("all tasks of a session have one sum, which a kill forgets nothing of, and other sessions have their own", async () => {
  const budgets: readonly SpendingBudget[] = [{ per: "session", tabs: 3 }, {
    per: "session",
    money: 1,
  }];
  const first = world(budgets, { [task]: "s000000000001", [other]: "s000000000001" });
  await first.uses.take(of(task), { tabs: 2 }, "open a page");
  await first.uses.take(of(other), { tabs: 1 }, "open a page");
  await rejects(
    first.uses.take(of(task), { tabs: 1 }, "open a page"),
    /the budget of 3 tabs a session \(session s000000000001\) is used up .* or begin another session/,
  );
  first.standing.forget(task);
  await rejects(first.uses.take(of(other), { tabs: 1 }, "open a page"), /is used up/);
  const used = first.written.filter(({ kind }) => kind === "budgetUsed");
  const second = world(budgets, { [task]: "s000000000001", [other]: "s000000000002" });
  await second.standing.seedUsed(
    async function* () {
      for (const { body } of used) {
        yield {
          at: NOON,
          task,
          child: undefined,
          of: "tabs" as const,
          amount: Number(body["amount"]),
        };
      }
    }(),
    second.find,
    { live: new Set() },
  );
  await rejects(second.uses.take(of(task), { tabs: 1 }, "open a page"), /is used up/);
  await second.uses.take(of(other), { tabs: 3 }, "open pages");
  deepEqual((await second.standing.standings()).map(({ name, spent }) => [name, spent]), [
    ["the budget of 3 tabs a session (session s000000000001)", 3],
    ["the budget of 3 tabs a session (session s000000000002)", 3],
  ]);
});
