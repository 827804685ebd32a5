/** alice sits down, talks with an agent over her folder, leaves, and comes back to the same talk. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { playing } from "../fake/scenes.ts";
import { openTerminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const TALK = `
scenario: a talk about a list
turns:
  - when: { message: 1, step: 1 }
    calls: [{ tool: file_read, args: { path: work/list.txt } }]
  - when: { message: 1, step: 2 }
    say: "It says {{ tool.file_read | line 1 }}."
  - when: { message: 2, step: 1 }
    calls:
      - tool: file_edit
        args: { path: work/list.txt, old: apples, new: pears }
  - when: { message: 2, step: 2 }
    say: Pears it is.
  - when: { message: 3 }
    say: "First you said: {{ user }}. I read {{ tool.file_read.1 | line 1 }} then."
`;

Deno.test("alice talks for two turns, looks round with slashes, leaves, and -c goes on with the talk", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    await machine.write("list.txt", "apples\nbread\n");
    const model = await playing(machine, TALK);
    const open = (args: readonly string[]): ReturnType<typeof openTerminal> =>
      openTerminal(machine.command([...args, ...model]), { env: machine.env, cwd: machine.dir });

    const first = open([]);
    try {
      await first.shows("/exit");
      await first.shows("\n› ", 1);
      await first.type("/diff\r");
      await first.shows("nothing was asked yet");
      await first.shows("\n› ", 2);
      await first.type("What is on my list?\r");
      await first.shows("It says apples.");
      await first.shows("\n› ", 3);

      await first.type("/tools\r");
      await first.shows(/file_edit +auto/);
      await first.shows("\n› ", 4);
      await first.type("/caps\r");
      await first.shows("mount");
      await first.shows("\n› ", 5);
      await first.type("/grants\r");
      await first.shows("no answer of yours holds");
      await first.shows("\n› ", 6);
      await first.type("/model\r");
      await first.shows("model.yaml");
      await first.shows("\n› ", 7);
      await first.type("/nonsense\r");
      await first.shows('Cannot do "/nonsense"');
      await first.shows("\n› ", 8);
      await first.type("/help\r");
      await first.shows(/\/undo +take its last change back/);
      await first.shows("\n› ", 9);
      await first.type("/plan\r");
      await first.shows("it plans");
      await first.shows("\n› ", 10);
      await first.type("/tools\r");
      await first.shows(/file_edit +forbidden/);
      await first.shows("\n› ", 11);
      await first.type("/work\r");
      await first.shows("it works");
      await first.shows("\n› ", 12);

      await first.type("Pears instead\r");
      // The turn ends, and what was staged is put to her.
      await first.shows("Enter alone is no");
      await first.shows("your answer");
      // What the model says it says while it works, before she is asked.
      await first.shows("Pears it is.");
      await first.type("y\r");
      await first.shows("\n› ", 13);
      assert.equal(await machine.read("list.txt"), "pears\nbread\n");
      await first.type("/diff\r");
      await first.shows("+pears");
      await first.shows("\n› ", 14);
      await first.type("/undo\r");
      await first.shows("undone");
      assert.equal(await machine.read("list.txt"), "apples\nbread\n");
      await first.shows("\n› ", 15);
      await first.type("/exit\r");
      assert.equal(await first.ended(), 0, first.screen());
      assert.match(first.screen(), /go on with: .* -c/);
    } finally {
      await first.close();
    }

    const second = open(["-c"]);
    try {
      await second.shows("What is on my list?");
      await second.shows("\n› ", 1);
      await second.type("Where were we\r");
      // It remembers what was said and read before, in another process.
      await second.shows("First you said: Where were we. I read apples then.");
      // Typed while the turn may still be under way.
      await second.type("\x04");
      assert.equal(await second.ended(), 0, second.screen());
    } finally {
      await second.close();
    }
  });
});

Deno.test("alice's script opens a session without a terminal and is told what to do instead", async () => {
  await onMachine(async (machine) => {
    const done = await machine.remit([]);
    assert.equal(done.code, 2);
    assert.match(done.stderr, /Cannot open a session: there is no terminal; try ".* run --help"/);
  });
});
