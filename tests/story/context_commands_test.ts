/** alice looks at what her agent no longer has in mind, puts it back, and tries another way from an earlier turn. */
import assert from "node:assert/strict";
import * as z from "zod";
import { onMachine } from "../fake/remit.ts";
import { playing } from "../fake/scenes.ts";
import { openTerminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const Row = z.object({ id: z.string() });

/** Reads nine pages with a window for seven, then talks. */
const READS = `
scenario: reads on
model: { contextTokens: 9000 }
turns:
  - when: { system: "You shorten the older part" }
    say: It read pages of mallory's mail.
  - when: { user: "lemon" }
    say: With lemon, then.
  - when: { user: "And now" }
    say: "I still have: {{ tool.file_read.1 | line 1 }}"
${
  [8, 7, 6, 5, 4, 3, 2, 1].map((n) =>
    `  - when: { result: { tool: file_read, text: "This is page ${n}." } }
    calls: [{ tool: file_read, args: { path: mail/page${n + 1}.txt } }]`
  ).join("\n")
}
  - when: { result: { tool: file_read, text: "This is page 9." } }
    say: Read to the end.
  - when: { always: true }
    calls: [{ tool: file_read, args: { path: mail/page1.txt } }]
`;

const CONFIG = `version: 1
agents:
  reader:
    name: reader
    labels: {}
    persona: You read.
    capabilities: [{ tool: file_read }]
    limits: {}
    env: {}
`;

Deno.test("alice lists, shows and restores what gave way, names the talk, forks it, compares, and lets it end (long)", async () => {
  await onMachine(async (machine) => {
    for (let n = 1; n <= 9; n++) {
      const evil = n === 1 ? "\u001b[2J" : "";
      const text = `This is page ${n}.\n${evil}${`Line of page ${n}.\n`.repeat(200)}`;
      await machine.write(`mail/page${n}.txt`, text.slice(0, 2_700));
    }
    await machine.write("remit.yaml", CONFIG);
    await machine.remit(["trust"]);
    const model = await playing(machine, READS);
    const run = await machine.remit([
      ...["run", "-p", "Read my mail", "--agent", "reader"],
      ...["--mount", `mail=${machine.dir}/mail:ro`, ...model],
    ]);
    assert.equal(run.code, 0, run.stderr);
    assert.equal(run.stdout, "Read to the end.\n");
    assert.match(
      run.stderr,
      /! context +older turns summarized: \d+ → \d+ tokens +ctx show 1/,
    );
    const [task] = z.array(Row).parse(await machine.json(["task", "show"]));
    assert.ok(task);
    const list = await machine.remit(["ctx", "list", task.id]);
    assert.match(
      list.stdout,
      /^N +TIME +BEFORE +AFTER +METHOD +PRESERVED\n1 .* compact +SYSTEM USER_INSTRUCTION\n$/,
    );
    const show = await machine.remit(["ctx", "show", task.id, "1"]);
    assert.match(
      show.stdout,
      /^assistant .*\n {2}file_read \{.*\}\ntool file_read {2}\(tool file_read, YELLOW, internal\)\n {2}This is page 1\.$/m,
    );
    assert.ok(!show.stdout.includes("\u001b"));
    const restored = await machine.remit(["ctx", "restore", task.id, "1"]);
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stdout, /^restored 1: \d+ → \d+ tokens\n$/);
    assert.equal((await machine.remit(["ctx", "restore", task.id, "1"])).code, 1);
    assert.match(
      (await machine.remit(["log", task.id])).stdout,
      /contextCompacted .*method compact/,
    );

    assert.equal((await machine.remit(["conversation", "name", task.id, "mail"])).code, 0);
    const forked = await machine.remit([
      ...["conversation", "fork", "mail@1", "--name", "tea", "--message", "And now?"],
    ]);
    assert.equal(forked.code, 0, forked.stderr);
    assert.equal(forked.stdout, "I still have: This is page 1.\n");
    const compared = await machine.remit(["conversation", "compare", "mail", "tea"]);
    assert.equal(compared.code, 1);
    assert.match(
      compared.stdout,
      /^the first \d+ messages are the same\n> user .*\n> {3}And now\?/,
    );
    const same = await machine.remit(["conversation", "compare", "mail@1", "tea@1"]);
    assert.equal(same.code, 0, same.stdout.slice(-500));
    assert.match(
      (await machine.remit(["conversation", "list"])).stdout,
      /mail +t\w{12} +1 +done .*\ntea +t\w{12} +2 +open .* +never +t\w{12}@1\n$/,
    );
    const missing = await machine.remit(["conversation", "show", "nobody"]);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /was given to none/);

    await machine.remit(["conversation", "expire", "mail", "--after", "0m"]);
    const left = await machine.remit(["conversation", "list"]);
    assert.doesNotMatch(left.stdout, /^mail/m);
    assert.match((await machine.remit(["ctx", "list", task.id])).stderr, /is erased/);
    // What a fork copied is the fork's own.
    assert.match((await machine.remit(["conversation", "show", "tea"])).stdout, /This is page 1\./);
    assert.equal((await machine.remit(["conversation", "remove", "tea"])).code, 0);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});

Deno.test("alice goes on by name at her terminal with a fork that waits", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    const model = await playing(
      machine,
      `
scenario: tea
turns:
  - when: { message: 1 }
    say: Tea it is.
  - when: { user: "lemon" }
    say: "You said {{ user }} at message 2."
`,
    );
    const run = await machine.remit(["run", "-p", "Tea", ...model]);
    assert.equal(run.code, 0, run.stderr);
    const [task] = z.array(Row).parse(await machine.json(["task", "show"]));
    assert.ok(task);
    const forked = await machine.remit(["conversation", "fork", task.id, "--name", "tea"]);
    assert.match(forked.stdout, /^tea {2}t\w{12}\n$/);
    const terminal = openTerminal(machine.command(["-c", "--name", "tea", ...model]), {
      env: machine.env,
      cwd: machine.dir,
    });
    try {
      await terminal.shows("goes on: Tea");
      await terminal.shows("\n› ", 1);
      await terminal.type("with lemon\r");
      await terminal.shows("You said with lemon at message 2.");
      await terminal.shows("\n› ", 2);
      await terminal.type("/exit\r");
    } finally {
      await terminal.close();
    }
  });
});
