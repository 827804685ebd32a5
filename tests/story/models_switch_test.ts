/** alice changes models in the midst of a talk, by a rule or by hand, and lets a small one shorten it. */
import assert from "node:assert/strict";
import { type Answer, type Provider, serveOpenai } from "../../models/_fixture/providers/mod.ts";
import { configured, eventsOf, planned, READS, says } from "../fake/model_scenes.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { openTerminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const WRONG: Answer = { calls: [{ id: "w1", name: "no_such_tool", pieces: ["{}"] }] };
const UNFIT: Answer = { calls: [{ id: "w2", name: "file_read", pieces: ['{"file":1}'] }] };

/** alice's machine with two models, `small` and `large`, that need no key. */
async function withTwo(
  more: { readonly small?: string; readonly rest?: string },
  f: (
    machine: Machine,
    models: { readonly small: Provider; readonly large: Provider },
  ) => Promise<void>,
): Promise<void> {
  await onMachine(async (machine) => {
    await using small = serveOpenai({ variant: "llamacpp" });
    await using large = serveOpenai({ variant: "llamacpp" });
    await configured(
      machine,
      `models:
  small: { ref: "openai:small@${small.url}"${more.small ?? ""} }
  large: "openai:large@${large.url}"
${more.rest ?? ""}`,
    );
    await f(machine, { small, large });
  });
}

Deno.test("alice's rule gives her task the large model after two calls in a row that were not valid, and says so", async () => {
  const rule = ", escalate: { to: large, after: 2 }";
  await withTwo({ small: rule }, async (machine, { small, large }) => {
    const run = ["run", "-p", "When?", ...await planned(machine), "--model", "small"];
    small.next(WRONG, UNFIT);
    large.next(READS, says("Monday, says the large one."));
    const done = await machine.remit([...run, "--json"]);
    assert.equal(done.code, 0, done.stderr);
    const { answer, task, read } = readRun(done.stdout);
    assert.deepEqual([answer, read], ["Monday, says the large one.", ["plans/trip.txt"]]);
    assert.deepEqual([small.asked.length, large.asked.length], [2, 2]);
    // The large one sees what was tried before.
    assert.ok(JSON.stringify(large.asked[0]).includes("no_such_tool"));
    const [changed] = (await eventsOf(machine, task)).filter(({ event }) =>
      event === "modelChanged"
    );
    assert.deepEqual([changed?.["why"], changed?.["made"]], ["escalated", true]);

    // A valid call between two wrong ones begins the count anew.
    small.next(WRONG, READS, WRONG, says("Monday, says the small one."));
    const alone = await machine.remit(run);
    assert.equal(alone.stdout, "Monday, says the small one.\n", alone.stderr);
    assert.equal(large.asked.length, 2);
  });
});

Deno.test("alice takes another model in the midst of a talk: the talk stays, and the new one hears all of it", async () => {
  if (!needs("script")) return;
  await withTwo({}, async (machine, { small, large }) => {
    await machine.write("list.txt", "apples\n");
    small.next(
      { calls: [{ id: "r", name: "file_read", pieces: ['{"path":"work/list.txt"}'] }] },
      says("It says apples."),
    );
    large.next(says("You asked about your list, and it said apples."), says("Still me."));
    const words = machine.command(["--model", "small"]);
    const terminal = openTerminal(words, { env: machine.env, cwd: machine.dir });
    try {
      await terminal.shows("\n› ", 1);
      await terminal.type("What is on my list?\r");
      await terminal.shows("It says apples.");
      await terminal.shows("\n› ", 2);
      await terminal.type("/model nonsense\r");
      await terminal.shows('Cannot use model "nonsense"');
      await terminal.shows("\n› ", 3);
      await terminal.type("/model large\r");
      await terminal.shows("the conversation stays");
      await terminal.shows("\n› ", 4);
      await terminal.type("What did we speak of?\r");
      await terminal.shows("You asked about your list, and it said apples.");
      await terminal.shows("\n› ", 5);
      await terminal.type("/model\r");
      await terminal.shows(`openai:large@${large.url}`);
      await terminal.shows("\n› ", 6);
      await terminal.type("/exit\r");
      assert.equal(await terminal.ended(), 0, terminal.screen());
    } finally {
      await terminal.close();
    }
    assert.equal(small.asked.length, 2);
    const heard = JSON.stringify(large.asked[0]);
    for (
      const each of ["What is on my list?", "apples", "It says apples.", "What did we speak of?"]
    ) {
      assert.ok(heard.includes(each), each);
    }
    const kept = await Deno.readTextFile(`${machine.state}/person/last_session.json`);
    const { task } = JSON.parse(kept) as { task: string };
    const changed = (await eventsOf(machine, task)).filter(({ event }) => event === "modelChanged");
    assert.deepEqual(changed.map(({ why, made }) => [why, made]), [["person", true]]);

    // A later command goes on with the model that she took.
    const again = openTerminal(machine.command(["-c", "--model", "small"]), {
      ...{ env: machine.env, cwd: machine.dir },
    });
    try {
      await again.shows("\n› ", 1);
      await again.type("Who are you?\r");
      await again.shows("Still me.");
      await again.shows("\n› ", 2);
      await again.type("\x04");
      assert.equal(await again.ended(), 0, again.screen());
    } finally {
      await again.close();
    }
    assert.equal(small.asked.length, 2);
  });
});

Deno.test("a talk that grows too long is shortened by the model that remit.yaml names for it", async () => {
  const agent = `agents:
  reader: { name: reader, persona: You read., labels: {}, limits: {}, env: {}, capabilities: [{ tool: file_read }] }
`;
  await withTwo(
    { small: ", contextTokens: 6000, summarizer: large", rest: agent },
    async (machine, { small, large }) => {
      const pages = 8;
      for (let n = 1; n <= pages; n++) {
        await machine.write(
          `plans/page${n}.txt`,
          `This is page ${n}.\n${"A line of it.\n".repeat(200)}`,
        );
      }
      const reads = (n: number): Answer => ({
        calls: [{ id: `r${n}`, name: "file_read", pieces: [`{"path":"plans/page${n}.txt"}`] }],
      });
      small.next(
        ...Array.from({ length: pages }, (_, n) => reads(n + 1)),
        says("Read to the end."),
      );
      large.next(...Array.from({ length: pages }, () => says("It had read some pages of a book.")));
      const mount = ["--mount", `plans=${machine.dir}/plans`];
      const words = ["run", "-p", "Read it all", ...mount, "--agent", "reader", "--model", "small"];
      const done = await machine.remit([...words, "--json"]);
      assert.equal(done.code, 0, done.stderr + done.stdout);
      const { answer, task } = readRun(done.stdout);
      assert.equal(answer, "Read to the end.");
      assert.equal(small.asked.length, pages + 1, "the small one was never asked for a summary");
      assert.ok(large.asked.length > 0);
      assert.ok(JSON.stringify(large.asked[0]).includes("This is page 1."));
      assert.ok(JSON.stringify(small.asked.at(-1)).includes("It had read some pages of a book."));
      assert.ok(!JSON.stringify(small.asked.at(-1)).includes("This is page 1."));
      const events = await eventsOf(machine, task);
      const compacted = events.filter(({ event }) => event === "contextCompacted");
      assert.equal(compacted.length, large.asked.length);
      // What gave way is still there.
      const list = await machine.remit(["ctx", "list", task]);
      assert.equal(list.code, 0);
      assert.ok(
        (await machine.remit(["ctx", "show", task, "1"])).stdout.includes("This is page 1."),
      );
    },
  );
});
