/** bob's script wants an answer that it can read: validated against a schema, or none. */
import assert from "node:assert/strict";
import { BACKENDS, keepKey, planned, says } from "../fake/model_scenes.ts";
import { onMachine } from "../fake/remit.ts";

const SCHEMA = JSON.stringify({
  type: "object",
  required: ["day"],
  properties: { day: { enum: ["Monday", "Tuesday"] } },
  additionalProperties: false,
});

Deno.test("bob gets an answer that fits his schema, after one that did not; the log has both, and three that do not are a failure", async () => {
  const backend = BACKENDS[1];
  assert.ok(backend !== undefined);
  await onMachine(async (machine) => {
    await using provider = backend.serve([
      says("You leave on Monday."),
      says('```json\n{"day":"Monday"}\n```'),
    ]);
    await keepKey(machine, backend, provider);
    const schema = await machine.write("day.json", SCHEMA);
    const words = [...await planned(machine), "--model", backend.ref(provider)];
    const run = ["run", "-p", "When do I leave?", "--schema", schema, ...words];
    const done = await machine.remit(run);
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(JSON.parse(done.stdout), { day: "Monday" });
    assert.match(done.stderr, /does not fit the schema: it is no JSON value/);
    assert.match(provider.received.at(-1)?.body ?? "", /Your answer does not fit the JSON Schema/);
    const [task] = await machine.json(["task", "list", "--json"]) as {
      id: string;
      status: string;
    }[];
    assert.equal(task?.status, "done");
    const { stdout: log } = await machine.remit(["conversation", "show", task?.id ?? ""]);
    assert.match(log, /Your answer does not fit/);

    provider.next(says("1"), says('{"day":"Sunday"}'), says('{"day":"Monday","more":1}'));
    const failed = await machine.remit([...run, "--json"]);
    assert.equal(failed.code, 1, failed.stderr);
    const document = JSON.parse(failed.stdout);
    assert.equal("value" in document, false);
    assert.match(document.misfit, /additional|more/);
    assert.equal(document.exit, 1);

    const broken = await machine.write("broken.json", '{"type": 7}');
    const refused = await machine.remit(["run", "-p", "x", "--schema", broken, ...words]);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /schema/);
    assert.equal((await machine.json(["task", "list", "--json"]) as unknown[]).length, 2);
  });
});

Deno.test("carol is told once what a word means that appears for the first time, and whenever she asks", async () => {
  await onMachine(async (machine) => {
    await machine.write("plans/trip.txt", "Leave on Monday.\n");
    const model = await machine.write(
      "model.yaml",
      "scenario: reads\nturns:\n  - calls: [{ tool: file_read, args: { path: plans/trip.txt } }]\n  - say: Monday.\n",
    );
    const run = ["run", "-p", "When?", "--mount", `plans=${machine.dir}/plans`];
    const words = [...run, "--model", `scripted:${model}`];
    const first = await machine.remit(words);
    assert.match(first.stderr, /trust falls to YELLOW\n +colour YELLOW: it has read files/);
    assert.doesNotMatch((await machine.remit(words)).stderr, /colour YELLOW: it has read files/);
    assert.match((await machine.remit(["explain", "red"])).stdout, /^colour RED: /);
    const [one] = await machine.json(["explain", "staged", "--json"]) as { word: string }[];
    assert.equal(one?.word, "staged");
    const wrong = await machine.remit(["explain", "stagd"]);
    assert.match(wrong.stderr, /did you mean "staged"\?/);
  });
});
