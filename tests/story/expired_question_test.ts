/** alice's run waits for her over a long weekend: what it asked has expired when she comes back. */
import assert from "node:assert/strict";
import * as z from "zod";
import { openSqliteStore } from "../../store/sqlite/store.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../fake/scenes.ts";

const Rows = z.array(z.object({ id: z.string(), state: z.string() }));

/** As though it had been asked long ago: no kernel runs meanwhile. */
async function longAgo(machine: Machine, question: string): Promise<void> {
  assert.equal((await machine.remit(["stop"])).code, 0);
  const store = openSqliteStore({ path: `${machine.state}/kernel/remit.db` });
  const row = await store.document("question", question);
  assert(row !== undefined);
  const { kind, id, task, version, body } = row;
  const past = { ...Object(body["question"]), createdAt: 1, expiresAt: 2 };
  const write = { kind, id, task, expect: version, body: { ...body, question: past } };
  await store.commit({ events: [], blobs: [], documents: [write] });
  await store.close();
}

Deno.test("alice comes back too late: she is told that the question has expired, and resume asks it again", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, MOVES_THE_TRIP)];
    const done = await machine.remit(["run", "-p", "Move the trip", "--json", ...words]);
    assert.equal(done.code, 75, done.stderr);
    const { task } = readRun(done.stdout);
    const [question] = Rows.parse(await machine.json(["questions"]));
    assert(question !== undefined);
    await longAgo(machine, question.id);

    assert.deepEqual(Rows.parse(await machine.json(["questions"])), [
      { id: question.id, state: "expired" },
    ]);
    const listed = await machine.remit(["questions"]);
    assert.match(listed.stdout, /expired: /);
    assert.match(listed.stderr, /ask again what has expired with: .*resume TASK/);
    const late = await machine.remit(["answer", question.id, "allow"]);
    assert.equal(late.code, 1);
    assert.match(late.stderr, /it has expired; "remit resume t\w+" asks it again/);
    const shown = await machine.remit(["task", "show", task]);
    assert.match(shown.stdout, /^status +needsApproval, exit 75$/m);
    assert.match(
      shown.stdout,
      /^reason +question q\w+ has expired, nobody answered it: "remit resu/m,
    );

    const resumed = await machine.remit(["resume", task]);
    assert.equal(resumed.code, 75, resumed.stderr);
    const [again, ...more] = Rows.parse(await machine.json(["questions"]));
    assert(again !== undefined && more.length === 0);
    assert.notEqual(again.id, question.id);
    assert.equal(again.state, "open");
    const answered = await machine.remit(["answer", again.id, "allow"]);
    assert.equal(answered.code, 0, answered.stderr);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\nTake the boat.\n");
    assert.deepEqual(await machine.json(["questions"]), []);
    const twice = await machine.remit(["answer", again.id, "allow"]);
    assert.equal(twice.code, 1);
    assert.match(twice.stderr, /it is allowed/, "also a later kernel knows what it came to");
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});
