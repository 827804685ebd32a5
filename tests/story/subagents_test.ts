/** alice's agent hands parts of its work to agents of its own: two that read, one that writes; mallory's text in between. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { eventsOf } from "../fake/model_scenes.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";

const AGENTS = `version: 1
agents:
  lead:
    persona: You lead.
    agents: [reader, writer, researcher]
  reader:
    persona: You are the READER.
    capabilities: [{ tool: file_read }, { tool: file_list }]
    limits: { iterations: 5 }
  writer:
    persona: You are the WRITER.
    capabilities: [{ tool: file_edit }]
`;

const LEAD = `
scenario: lead
turns:
  - when: { system: READER, inference: 1 }
    calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - when: { system: READER, inference: 2 }
    say: "It says: {{ tool.file_read }}"
  - when: { system: READER }
    say: I read no more.
  - when: { system: WRITER, inference: 1 }
    calls: [{ tool: file_edit, args: { path: plans/trip.txt, old: Monday, new: Tuesday } }]
  - when: { system: WRITER }
    say: Written.
  - when: { inference: 1 }
    calls:
      - { tool: agent_spawn, args: { agent: reader, request: "Read the trip" } }
      - { tool: agent_spawn, args: { agent: reader, request: "Read it, too" } }
  - when: { inference: 2 }
    calls: [{ tool: agent_wait, args: { agent: "{{ tool.agent_spawn.1 | json /agent }}" } }]
  - when: { inference: 3, result: { text: "Take the boat" } }
    calls: [{ tool: agent_send, args: { agent: "{{ tool.agent_spawn.1 | json /agent }}", text: more } }]
  - when: { inference: 4 }
    calls: [{ tool: agent_wait, args: { agent: "{{ tool.agent_spawn.1 | json /agent }}" } }]
  - when: { inference: 5, result: { text: "I read no more" } }
    calls: [{ tool: agent_kill, args: { agent: "{{ tool.agent_spawn.1 | json /agent }}" } }]
  - when: { inference: 6 }
    calls: [{ tool: agent_spawn, args: { agent: writer, request: "Make it Tuesday" } }]
  - when: { inference: 7 }
    calls: [{ tool: agent_wait, args: { agent: "{{ tool.agent_spawn | json /agent }}" } }]
  - when: { inference: 8, result: { text: Written } }
    calls: [{ tool: patch_apply }]
  - when: { inference: 9, result: { tool: patch_apply, outcome: ok } }
    say: All of it is done.
`;

Deno.test("alice's lead starts two readers and a writer; its question names nobody else, the log and the budget all of them", async () => {
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    await machine.write("remit.yaml", AGENTS);
    await machine.remit(["trust"]);
    const answers = await machine.write(
      "answers.json",
      JSON.stringify({
        answers: [{ tool: "patch_apply", path: "plans/trip.txt", answer: "allow", max: 1 }],
      }),
    );
    const words = [...mount, ...await playing(machine, LEAD), "--agent", "lead"];
    const done = await machine.remit([
      "run",
      "-p",
      "Move the trip",
      ...words,
      "--answers",
      answers,
      "--json",
    ]);
    const run = readRun(done.stdout);
    assert.equal(done.code, 0, `${done.stderr}${done.stdout}`);
    assert.equal(run.answer, "All of it is done.");
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\nTake the boat.\n");
    const events = await eventsOf(machine, run.task);
    const started = events.filter(({ event }) => event === "processStarted");
    assert.deepEqual(
      started.map(({ agent }) => agent),
      ["reader", "reader", "writer"],
    );
    // Every inference of theirs is charged to the task.
    assert.ok(run.spent.turns >= 11, JSON.stringify(run.spent));
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});
