/** alice's lead hands one list to two workers: each item is done once, the log says who, and she sees who works on what. */
import assert from "node:assert/strict";
import { SharedResource } from "../../contracts/task/mod.ts";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { eventsOf } from "../fake/model_scenes.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";

const AGENTS = `version: 1
agents:
  lead:
    persona: You lead.
    agents: [worker]
  worker:
    persona: You are the WORKER.
    capabilities: [{ tool: task_list }, { tool: file_read }]
`;

const LEAD = `
scenario: lead
turns:
  - when: { system: WORKER, inference: 1 }
    calls: [{ tool: task_list, args: { action: claim, list: chores, item: 1, generation: 1 } }]
  - when: { system: WORKER, result: { tool: task_list, outcome: ok, text: claimed } }
    calls: [{ tool: task_list, args: { action: done, list: chores, item: 1, generation: 2 } }]
  - when: { system: WORKER, result: { tool: task_list, outcome: ok } }
    say: I did it.
  - when: { system: WORKER }
    say: "It is taken: {{ tool.task_list }}"
  - when: { inference: 1 }
    calls: [{ tool: task_list, args: { action: add, list: chores, text: Read the trip } }]
  - when: { inference: 2 }
    calls:
      - { tool: agent_spawn, args: { agent: worker, request: "Take an item" } }
      - { tool: agent_spawn, args: { agent: worker, request: "Take an item" } }
  - when: { inference: 3 }
    calls:
      - { tool: agent_wait, args: { agent: "{{ tool.agent_spawn.1 | json /agent }}" } }
      - { tool: agent_wait, args: { agent: "{{ tool.agent_spawn.2 | json /agent }}" } }
  - when: { inference: 4 }
    calls: [{ tool: task_list, args: { action: list, list: chores } }]
  - say: "{{ tool.task_list }} {{ tool.agent_wait.1 }} {{ tool.agent_wait.2 }}"
    loop: true
`;

Deno.test("two workers take one item: it is done once, the other is told so, and alice sees the list", async () => {
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    await machine.write("remit.yaml", AGENTS);
    await machine.remit(["trust"]);
    const words = [...mount, ...await playing(machine, LEAD), "--agent", "lead"];
    const done = await machine.remit(["run", "-p", "Do the chores", ...words, "--json"]);
    const run = readRun(done.stdout);
    assert.equal(done.code, 0, `${done.stderr}${done.stdout}`);
    assert.match(String(run.answer), /"open":0,"done":1/);
    assert.match(String(run.answer), /I did it/);
    assert.match(
      String(run.answer),
      /It is taken: .*Cannot (?:claim it: task|change it|claim item 1: it is done)/,
    );
    const events = (await eventsOf(machine, run.task)).filter(({ event }) => event === "resource");
    const states = events.flatMap(({ what, state }) => what === "item" ? [state] : []);
    assert.deepEqual(states, ["open", "claimed", "done"]);
    const versions = events.flatMap(({ what, writtenVersion }) =>
      what === "item" ? [writtenVersion] : []
    );
    assert.deepEqual(versions, ["1", "2", "3"]);

    const log = await machine.remit(["log", run.task]);
    assert.match(log.stdout, /resource +.*resource taskList:chores .*item .*claimed/);
    const audit = await machine.remit(["audit", "query", "--tool", "task_list", "--json"]);
    assert.match(audit.stdout, /taskList:chores\/items\/1/);
    assert.match(audit.stdout, /"observedVersion":"1"/);
    assert.match(audit.stdout, /"writtenVersion":"2"/);

    const list = await machine.remit(["resources", "list"]);
    assert.match(list.stdout, /nobody has a claim/);
    assert.match(list.stdout, /taskList:chores: 0 items open, 0 claimed, 1 done/);
    const all = SharedResource.array().parse(
      JSON.parse((await machine.remit(["resources", "list", "--json"])).stdout),
    );
    assert.deepEqual(all.map(({ leases }) => leases), [[]], "what they had is free");
    const shown = await machine.remit(["resources", "show", "taskList:chores"]);
    assert.match(
      shown.stdout,
      /item 1 {2}done, generation 3, \w+, t\w+ worker \(process \d+\): Read the trip/,
    );
    const missing = await machine.remit(["resources", "show", "taskList:other"]);
    assert.deepEqual([missing.code, /Cannot find "taskList:other"/.test(missing.stderr)], [
      2,
      true,
    ]);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});
