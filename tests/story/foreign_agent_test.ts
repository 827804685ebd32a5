/** alice hands a request to an agent of others: it works on a copy, asks its provider through the relay, and is undone. */
import assert from "node:assert/strict";
import { EXIT } from "../../contracts/base/mod.ts";
import { addForeign, AGENT_KEY, handOver, startProvider } from "../fake/foreign_agent.ts";
import { eventsOf } from "../fake/model_scenes.ts";
import { onMachine } from "../fake/remit.ts";
import { alicesPlans } from "../fake/scenes.ts";

Deno.test("alice's foreign agent edits a copy at the folder's own path; she reviews, applies, undoes and finds it in the record", async () => {
  await using provider = startProvider();
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await addForeign(machine, provider);
    const plans = await Deno.realPath(`${machine.dir}/plans`);
    const run = await handOver(machine, [
      "cwd",
      "uid",
      "permission edit",
      "client fs/read_text_file",
      'ask POST /v1/responses {"model":"m","input":[]}',
      `write ${plans}/trip.txt Leave on Tuesday.`,
    ], { allow: "plans/trip.txt" });
    assert.equal(run.code, 0, run.output);
    assert.match(run.answer, new RegExp(`cwd: ${plans}\n`));
    assert.doesNotMatch(run.answer, /uid: 0\n/);
    assert.match(run.answer, /client: -32601/);
    assert.match(run.answer, /ask: 200 /);
    assert.match(run.answer, /provider: 1 requests, 7 tokens in, 3 out/);
    assert.match(run.answer, /asked: edit: allowed within its walls/);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\n");
    // The key went to the provider, and the agent's own did not.
    assert.deepEqual(
      provider.asked.map(({ target, headers }) => [target, headers.get("authorization")]),
      [["/v1/responses", `Bearer ${AGENT_KEY}`]],
    );
    const events = JSON.stringify(await eventsOf(machine, run.task));
    assert.match(events, /patch_apply/);
    assert.ok(!events.includes(AGENT_KEY));
    const undone = await machine.remit(["undo", run.task]);
    assert.equal(undone.code, 0, undone.stderr);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});

Deno.test("what the agent changed stays out of the folder where alice does not allow it", async () => {
  await using provider = startProvider();
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await addForeign(machine, provider);
    const run = await handOver(machine, ["write trip.txt Leave today."]);
    assert.equal(run.code, EXIT.waiting, run.output);
    assert.match(run.output, /plans\/trip\.txt/);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    const listed = await machine.json(["agent", "list"]);
    assert.deepEqual((listed as readonly { name: string }[]).map(({ name }) => name), ["fake"]);
    assert.equal((await machine.remit(["agent", "remove", "fake"])).code, 0);
    assert.match(
      (await machine.remit(["agent", "show", "fake"])).stderr,
      /none of this name was added/,
    );
  });
});

Deno.test("an agent that wants a login, and a provider that does not take the key, are told with what to do", async () => {
  await using provider = startProvider(() => new Response("no", { status: 401 }));
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await addForeign(machine, provider);
    const refused = await handOver(machine, ['ask POST /v1/responses {"model":"m"}']);
    assert.match(refused.answer, /does not take the key "mine"; "remit secret set mine" keeps/);
    await addForeign(machine, provider, ["--env", "WANTS_LOGIN=yes"]);
    const wants = await handOver(machine, ["cwd"]);
    assert.match(wants.answer, /Authentication required \[-32000\]/);
    assert.match(wants.answer, /A login by subscription does not work within its walls/);
  });
});
