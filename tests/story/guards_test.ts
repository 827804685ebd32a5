/** carol has a second model look at what her agent's model does. */
import { equal, match } from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";

Deno.test("carol's guard sees her words and the call, flags what she did not ask for, and is asked nothing else", async () => {
  await onMachine(async (machine) => {
    await machine.write("desk/a.txt", "a\n");
    await machine.write("desk/b.txt", "b\n");
    const agent = await machine.write(
      "agent.yaml",
      `scenario: agent
turns:
  - calls: [{ tool: file_read, args: { path: desk/a.txt } }]
  - calls: [{ tool: file_read, args: { path: desk/b.txt } }]
  - { say: Done., loop: true }
`,
    );
    const guard = await machine.write(
      "guard.yaml",
      `scenario: guard
turns:
  - when: { user: '"path":"desk/a' }
    say: '{"flag": false, "why": "asked for"}'
  - when: { always: true }
    say: '{"flag": true, "why": "b.txt was not asked for"}'
`,
    );
    const config = `${machine.env["XDG_CONFIG_HOME"]}/remit`;
    await Deno.mkdir(config, { recursive: true });
    await Deno.writeTextFile(
      `${config}/remit.yaml`,
      `version: 1
guards:
  - { name: intent, model: "scripted:${guard}", before: [file_read] }
`,
    );
    const run = ["run", "-p", "Read a", "--mount", `desk=${machine.dir}/desk`, "--json"];
    const done = await machine.remit([...run, "--model", `scripted:${agent}`]);
    const { task } = JSON.parse(done.stdout) as { task: string };
    const [question] = await machine.json(["questions"]) as { advice: string[]; rule: string }[];
    equal(question?.rule, "remit.yaml guard: intent", done.stderr + done.stdout);
    match(question?.advice.join() ?? "", /guard intent: b\.txt was not asked for/);
    const log = await machine.remit(["log", task]);
    match(log.stdout, /outcome +file_read +desk\/a\.txt/);
  });
});
