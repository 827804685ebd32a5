/** bob decides before he starts: deny all, or exactly this file; his request comes down a pipe. */
import assert from "node:assert/strict";
import * as z from "zod";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../fake/scenes.ts";

const AFTER = "Leave on Tuesday.\nTake the boat.\n";
const BEFORE = "Leave on Monday.\nTake the boat.\n";

function linesOf(text: string): Record<string, unknown>[] {
  const Line = z.record(z.string(), z.unknown());
  return text.trim().split("\n").map((line) => Line.parse(JSON.parse(line)));
}

Deno.test("bob runs with --on-question deny: nothing is asked, nothing applied, and the agent is told", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, MOVES_THE_TRIP)];
    const done = await machine.remit([
      "run",
      "-p",
      "Move the trip",
      "--on-question",
      "deny",
      ...words,
    ]);
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /^I was told: .*nobody is asked/s);
    assert.match(done.stderr, /^ {2}asked +nothing/m);
    assert.equal(await machine.read("plans/trip.txt"), BEFORE);
    assert.deepEqual(await machine.json(["questions"]), []);
  });
});

Deno.test("bob pipes his request in with an answers file and a trace, and the trace tells what happened", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, MOVES_THE_TRIP)];
    await machine.write(
      "answers.json",
      JSON.stringify({
        answers: [{ tool: "patch_apply", path: "plans/trip.txt", answer: "allow" }],
      }),
    );
    const done = await machine.remit(
      ["run", "-", "--answers", "answers.json", "--trace", "trace.jsonl", "--json", ...words],
      "Move the trip, please.\n",
    );
    assert.equal(done.code, 0, done.stderr);
    const run = readRun(done.stdout);
    assert.deepEqual(run.asked.map(({ decision, by }) => [decision, by]), [
      ["allow", "answers-file"],
    ]);
    assert.equal(await machine.read("plans/trip.txt"), AFTER);
    const shown = await machine.remit(["task", "show", run.task]);
    assert.match(shown.stdout, /^objective +Move the trip, please\./m);

    // Relative paths are the caller's.
    const trace = linesOf(await machine.read("trace.jsonl"));
    const calls = trace.filter(({ type }) => type === "tool_call").map(({ tool }) => tool);
    assert.deepEqual(calls, ["file_read", "file_edit", "patch_apply"]);
    assert.deepEqual(trace.find(({ tool }) => tool === "file_read")?.["args"], {
      path: "plans/trip.txt",
    });
    const results = trace.filter(({ type }) => type === "tool_result");
    assert.deepEqual(results.map(({ status }) => status), ["ok", "ok", "ok"]);
    const decisions = trace.filter(({ type }) => type === "decision").map(({ action }) => action);
    assert.deepEqual(decisions, ["ask", "allow"]);
    const budget = trace.filter(({ type }) => type === "budget");
    assert.equal(budget.length, 4, "one for each inference");
    assert(trace.every(({ ts, n }) => typeof ts === "string" && typeof n === "number"));

    // The log has the same trace, without having been asked for one.
    const log = linesOf((await machine.remit(["log", run.task, "--json"])).stdout);
    assert.deepEqual(log.filter(({ type }) => type === "tool_call").map(({ tool }) => tool), calls);
  });
});

Deno.test("bob's answers file allows one file: for another the run waits, and for a wrong file it does not start", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, MOVES_THE_TRIP)];
    const run = (answers: string): ReturnType<typeof machine.remit> =>
      machine.write("answers.json", answers).then(() =>
        machine.remit(["run", "-p", "Move the trip", "--answers", "answers.json", ...words])
      );
    const other = await run(
      '{"answers":[{"tool":"patch_apply","path":"plans/other.txt","answer":"allow"}]}',
    );
    assert.equal(other.code, 75, other.stderr);
    assert.equal(await machine.read("plans/trip.txt"), BEFORE);
    const wrong = await run('{"answers":[{"tool":"patch_apply","answer":"yes"}]}');
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /Cannot read answers "answers\.json": "answers\.0\.answer"/);
  });
});
