import assert from "node:assert/strict";
import { Digest } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import type { DocumentRow, StoredEvent } from "../../../contracts/task/mod.ts";
import {
  careOverWork,
  type CheckedSeal,
  type LogCare,
  type LogReport,
  makeLogCare,
} from "./care.ts";

interface Bench {
  readonly care: LogCare;
  /** Tasks whose chains were checked. */
  readonly chains: string[];
  /** How often the whole log was checked. */
  whole: number;
  noted: boolean;
  report: LogReport;
  /** Places that checks of the newest part went on from. */
  readonly from: (number | undefined)[];
  checked: CheckedSeal | undefined;
}

const ZERO = Digest.parse("0".repeat(64));

const WHOLE: LogReport = { ok: true, events: 5 };
const BAD: LogReport = {
  ok: false,
  events: 4,
  bad: { seq: 5, flaw: "changed", why: "it changed" },
};

function bench(events: number, broken: readonly string[] = []): Bench {
  const document = (id: string, status: string): DocumentRow => ({
    ...{ kind: "task", id, task: id, version: 1 },
    body: { status },
  });
  const made: Omit<Bench, "care"> = {
    ...{ chains: [], whole: 0, noted: false, report: WHOLE },
    ...{ from: [], checked: undefined },
  };
  const event: StoredEvent = {
    ...{ seq: 1, task: "t", n: 0, kind: "message", at: 1, body: "{}" },
    hash: Digest.parse("0".repeat(64)),
  };
  const care = makeLogCare({
    damage: undefined,
    store: {
      events: ({ afterSeq = 0 }) => Promise.resolve(events > afterSeq ? [event] : []),
      documents: ({ states }) =>
        Promise.resolve(
          states === undefined
            ? [document("t1", "done"), document("t2", "open"), document("t3", "???")]
            : [document("t2", "open"), document("t3", "???")],
        ),
      documentKinds: () => Promise.resolve(["task"]),
    },
    verify() {
      made.whole++;
      return Promise.resolve(made.report);
    },
    verifyFrom(from) {
      made.from.push(from?.seq);
      const reached = { seq: events, hash: ZERO };
      const { bad } = made.report;
      return Promise.resolve(bad === undefined ? { reached } : { reached: from ?? reached, bad });
    },
    checked: {
      read: () => Promise.resolve(made.checked),
      write: (seal) => Promise.resolve(void (made.checked = seal)),
    },
    verifyChain(task) {
      made.chains.push(task);
      return broken.includes(task)
        ? Promise.reject(new Fault("storeCorrupt", `Cannot go on with task ${task}: changed`))
        : Promise.resolve();
    },
    note: {
      read: () => Promise.resolve(made.noted),
      write: () => Promise.resolve(void (made.noted = true)),
      remove: () => Promise.resolve(void (made.noted = false)),
    },
  });
  return Object.assign(made, { care });
}

Deno.test("what is new is checked from the last checked seal on, and damage is noted for the next kernel", async () => {
  const made = bench(5_000);
  assert.equal(await made.care.keepUp(), false);
  assert.equal(made.checked?.seq, 5_000);
  const [one, other] = await Promise.all([made.care.keepUp(), made.care.keepUp()]);
  assert.deepEqual([one, other, made.from], [false, false, [undefined, 5_000, 5_000]]);
  assert.equal(made.noted, false);
  made.report = BAD;
  assert.equal(await made.care.keepUp(), true);
  assert.equal(made.noted, true);
  assert.equal(made.checked?.seq, 5_000);
  assert.equal(made.whole, 0);
});

const corrupt = (error: unknown): boolean =>
  error instanceof Fault && error.code === "storeCorrupt";

Deno.test("a short log is checked whole before anything runs", async () => {
  const made = bench(900);
  await made.care.check();
  assert.deepEqual([made.whole, made.chains], [1, []]);
  made.report = BAD;
  await assert.rejects(made.care.check(), /event 5: it changed/);
});

Deno.test("of a long log the chains of tasks that are not over are checked", async () => {
  const made = bench(5_000);
  await made.care.check();
  assert.deepEqual([made.whole, made.chains], [0, ["t2", "t3"]]);
  await assert.rejects(bench(5_000, ["t3"]).care.check(), corrupt);
  await bench(5_000, ["t1"]).care.check();
});

Deno.test("damage that was found once stops the next kernel, until the log is whole again", async () => {
  const made = bench(5_000);
  made.report = BAD;
  assert.equal((await made.care.verify(undefined)).ok, false);
  await assert.rejects(made.care.check(), corrupt);
  made.report = WHOLE;
  const next = bench(5_000);
  next.noted = true;
  await next.care.check();
  assert.deepEqual([next.whole, next.noted], [1, false]);
});

Deno.test("a tail that is missing against a head is told, and stops nothing", async () => {
  const made = bench(5_000);
  made.report = { ok: false, events: 5, bad: { seq: 6, flaw: "cutTail", why: "short" } };
  let ended = 0;
  const over = careOverWork(made.care, () => ended++);
  assert.equal((await over.auditVerify(Digest.parse("1".repeat(64)))).ok, false);
  assert.deepEqual([made.noted, ended], [false, 0]);
});

Deno.test("a kernel at work repairs nothing: it ends, so that the next one can", async () => {
  const made = bench(5_000);
  let ended = 0;
  const over = careOverWork(made.care, () => ended++);
  await assert.rejects(over.auditRepair(), /it is intact/);
  made.report = BAD;
  await assert.rejects(over.auditRepair(), /this kernel ends now/);
  assert.equal(ended, 1);
});
