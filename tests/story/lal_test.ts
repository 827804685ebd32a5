/** Lal's life cycle, over the real kernel, with a scripted model and HOST. */
import assert from "node:assert/strict";
import { type Machine, onMachine } from "../fake/remit.ts";
import { kill9 } from "../fake/processes.ts";

const READS = `
    - calls: [{ tool: list_messages }]
    - calls: [{ tool: adopt, args: { messageNumber: '{{ tool.list_messages | between "\\"number\\": " "," }}', edgeName: counter, petName: my-counter } }]`;
const evaluates = (source: string): string => `
    - calls: [{ tool: evaluate, args: { source: "${source}", codeNames: [counter], edgeNames: [my-counter], resultName: increment-result } }]
    - say: "I wait."`;
const SAYS = `
    - calls: [{ tool: lookup, args: { petName: increment-result } }]
    - calls: [{ tool: send, args: { recipient: HOST, strings: ["The counter is now {{ tool.lookup }}"] } }]
    - calls: [{ tool: dismiss, args: { messageNumber: '{{ tool.list_messages | between "\\"number\\": " "," }}' } }]
    - say: "done"`;
const file = (name: string, turns: string, steps: string): string =>
  `simulate: ${name}
play:
  scenario: ${name}
  turns:${turns}
steps:
  - say: "Please increment @counter"
    attach: { counter: 41 }
${steps}`;

async function plays(machine: Machine, text: string): Promise<{ code: number; stdout: string }> {
  const { code, stdout, stderr } = await machine.remit([
    "simulate",
    await machine.write("sim.yaml", text),
  ]);
  return { code, stdout: `${stdout}${stderr}` };
}

Deno.test("Lal: HOST grants, rejects and counters; what was proposed runs only as it was granted (long)", async () => {
  await onMachine(async (machine) => {
    const granted = await plays(
      machine,
      file(
        "grant",
        READS + evaluates("counter + 1") + SAYS + `
    - calls: [{ tool: send, args: { recipient: HOST, strings: ["You are welcome"] } }]
    - say: "done"`,
        "  - { proposal: counter + 1, grant: true }\n  - { mail: is now 42 }\n" +
          "  - { say: Thank you }\n  - { mail: You are welcome }\n",
      ),
    );
    assert.equal(granted.code, 0, granted.stdout);
    assert.match(
      granted.stdout,
      /proposes #1: const counter = 41;.*counter \+ 1\nHOST {3}grants it\n/,
    );

    const rejected = await plays(
      machine,
      file(
        "reject",
        READS + evaluates("counter + 1") + `
    - when: { result: { tool: send } }
      say: "done"
    - when: { user: { contains: ["settlement 1", "REJECTED by the HOST", "The counter is not yours"] } }
      calls: [{ tool: send, args: { recipient: HOST, strings: ["You said no; what shall I do?"] } }]`,
        "  - { proposal: counter + 1, reject: The counter is not yours }\n  - { mail: what shall I do }\n",
      ),
    );
    assert.equal(rejected.code, 0, rejected.stdout);

    const countered = await plays(
      machine,
      file(
        "counter",
        READS + evaluates("counter + 2") + `
    - when: { result: { tool: send } }
      say: "done"
    - when: { result: { tool: lookup } }
      calls: [{ tool: send, args: { recipient: HOST, strings: ["The counter is now {{ tool.lookup }}"] } }]
    - when: { result: { tool: evaluate, text: { contains: '"proposalId":2' } } }
      say: "I wait."
    - when: { user: { contains: ["COUNTER-PROPOSAL by the HOST", "| counter + 1", "| One is enough"] } }
      calls: [{ tool: evaluate, args: { source: "counter + 1", codeNames: [counter], edgeNames: [my-counter], resultName: increment-result } }]
    - when: { user: { contains: ["settlement 2", "GRANTED by the HOST"] } }
      calls: [{ tool: lookup, args: { petName: increment-result } }]`,
        "  - { proposal: counter + 2, counter: { source: counter + 1, codeNames: [counter], edgeNames: [my-counter], why: One is enough } }\n" +
          "  - { proposal: counter + 1, grant: true }\n  - { mail: is now 42 }\n",
      ),
    );
    assert.equal(countered.code, 0, countered.stdout);
    const ran = await machine.remit(["audit", "query", "--tool", "exec"]);
    const codes = ran.stdout.trim().split("\n").map((line) =>
      JSON.parse(JSON.parse(line).arguments)
    );
    assert.deepEqual(codes.map(({ code }) => code), [
      "const counter = 41;\ncounter + 1",
      "const counter = 41;\ncounter + 1",
    ]);

    const wrong = await plays(
      machine,
      file("wrong", READS + SAYS, "  - { mail: is now 43 }\n"),
    );
    assert.equal(wrong.code, 1);
    assert.match(
      wrong.stdout,
      /✗ wrong: step 2: mail that says "is now 43" was expected, and the agent rests/,
    );
    const verified = await machine.remit(["audit", "verify"]);
    assert.equal(verified.code, 0, verified.stderr);
  });
});

Deno.test("carol writes to Lal, reads its proposal, grants it by its id, and finds the answer in her mail", async () => {
  await onMachine(async (machine) => {
    await Deno.mkdir(`${machine.env["XDG_CONFIG_HOME"]}/remit`, { recursive: true });
    await Deno.writeTextFile(
      `${machine.env["XDG_CONFIG_HOME"]}/remit/remit.yaml`,
      'version: 1\nagents: { lal: { name: lal, persona: "", labels: {}, limits: {}, env: {}, program: lal } }\n',
    );
    const play = await machine.write(
      "play.yaml",
      `scenario: lal\nturns:${
        (READS + evaluates("counter + 1n") + SAYS).replaceAll("\n    ", "\n  ")
      }\n`,
    );
    const sent = await machine.remit([
      ...["mail", "send", "lal", "Please increment @counter"],
      ...["--attach", 'counter="+9007199254740992"'],
    ]);
    assert.match(sent.stdout, /^sent to agent:lal: m[0-9a-z]{12} \(queued\)/, sent.stderr);
    const run = await machine.remit([
      ...["run", "-p", "You have new mail.", "--agent", "lal"],
      ...["--model", `scripted:${play}`, "--on-question", "queue"],
    ]);
    assert.equal(run.code, 75, run.stderr);
    const [proposal] = await machine.json(["proposals", "list"]) as {
      id: string;
      program: string;
    }[];
    assert.equal(proposal?.program, "const counter = 9007199254740992n;\ncounter + 1n");
    const id = proposal?.id ?? "";
    const shown = await machine.remit(["proposals", "show", id]);
    assert.match(shown.stdout, /│ const counter = 9007199254740992n;\n┃ {3}│ counter \+ 1n/);
    // The kernel dies in between: nothing is lost, and nothing is done twice.
    for (const pid of await machine.processes()) kill9(pid);
    const granted = await machine.remit(["proposals", "grant", id]);
    assert.equal(granted.code, 0, granted.stderr);
    const ran = await machine.remit(["audit", "query", "--tool", "exec"]);
    assert.equal(ran.stdout.trim().split("\n").length, 1);
    assert.match((await machine.remit(["proposals", "list"])).stdout, /no proposal waits/);
    const [mail] = await machine.json(["mail", "list"]) as { id: string }[];
    const read = await machine.remit(["mail", "show", mail?.id ?? ""]);
    assert.match(
      read.stdout,
      /from {6}agent:lal, task t[0-9a-z]{12}.*\n {2}│ The counter is now "?9007199254740993/,
    );
    assert.equal((await machine.remit(["mail", "dismiss", mail?.id ?? ""])).code, 0);
    assert.match((await machine.remit(["mail", "list"])).stdout, /no mail for you/);
    const again = await machine.remit(["proposals", "grant", id]);
    assert.match(
      again.stderr,
      /Cannot (?:answer|show) question q[0-9a-z]{12}: (?:it is allowed|there is none)/,
    );
  });
});
