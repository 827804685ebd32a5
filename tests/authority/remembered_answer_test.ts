import assert from "node:assert/strict";
import { besiege, type Draft, type Siege, type Watched } from "../fake/siege.ts";
import { asked } from "./_desk.ts";

const WRITE = "{ tool: file_write, args: { path: desk/log.md, content: done for today } }";
const ALICE = "saaaaaaaaaaaa";

/** A call that a person is asked about each time, in a folder where mails are RED and secrets secret. */
function drafted(siege: Siege, first: string, draft: Draft = {}): Promise<Watched> {
  const marks = [
    { path: "mail.eml", colour: "RED" as const },
    { path: "secret.md", label: "secret" as const },
  ];
  return siege.run({
    turns: `${first}\n  - calls: [${WRITE}]\n  - say: Done.`,
    mounts: [siege.mount({ mode: "rw", marks })],
    session: ALICE,
    ...draft,
  });
}

const READ = (name: string): string =>
  `\n  - calls: [{ tool: file_read, args: { path: desk/${name} } }]`;
const CLEAN = READ("notes/plan.md");

async function remembering(f: (siege: Siege) => Promise<void>): Promise<void> {
  await besiege(async (siege) => {
    await Deno.writeTextFile(`${siege.desk}/mail.eml`, "hello\n");
    await Deno.writeTextFile(`${siege.desk}/secret.md`, "hush\n");
    const first = await drafted(siege, CLEAN, { onQuestion: "ask" });
    const question = await asked(siege, first);
    assert.notEqual(question.remember, undefined);
    await siege.answer(question.id, "allow", { for: "session" });
    assert.equal((await first.end).exit, 0);
    await f(siege);
  });
}

Deno.test("carol would have been asked again for the very thing that she allowed for the session", async () => {
  await remembering(async (siege) => {
    const again = await drafted(siege, CLEAN);
    assert.equal((await again.end).exit, 0);
    assert.equal(again.events.some(({ event }) => event === "questionAsked"), false);
    const intent = again.events.find(({ event, body }) =>
      event === "intent" && body["tool"] === "file_write"
    );
    assert.equal(intent?.body["decision"], "reused");
  });
});

const LAPSES: Readonly<Record<string, (siege: Siege) => Promise<Watched>>> = {
  "colour fell": (siege) => drafted(siege, READ("mail.eml")),
  "label rose": (siege) => drafted(siege, READ("secret.md")),
  "session was another": (siege) => drafted(siege, CLEAN, { session: "sbbbbbbbbbbbb" }),
  "arguments were others": (siege) =>
    drafted(siege, `\n  - calls: [${WRITE.replace("today", "tomorrow")}]`),
  "kernel was restarted": async (siege) => {
    await siege.restart();
    return await drafted(siege, CLEAN);
  },
};
for (const [why, later] of Object.entries(LAPSES)) {
  Deno.test(`carol's answer for the session would have stood after the ${why}`, async () => {
    await remembering(async (siege) => {
      const task = await later(siege);
      const { status, exit } = await task.end;
      assert.deepEqual({ status, exit }, { status: "needsApproval", exit: 75 });
    });
  });
}

Deno.test("carol's answer for one turn would have stood in the next", async () => {
  await besiege(async (siege) => {
    const step = (n: number, does: string): string => `\n  - when: { step: ${n} }\n    ${does}`;
    // Reading first: what is written falls to the folder's colour, and an answer does not outlast a fall.
    const read = "calls: [{ tool: file_read, args: { path: desk/notes/plan.md } }]";
    const write = `calls: [${WRITE}]`;
    const turns = [read, write, write, "say: Done."].map((does, n) => step(n + 1, does)).join("");
    const mount = siege.mount({ mode: "rw" });
    const task = await siege.run({ turns, mounts: [mount], onQuestion: "ask", interactive: true });
    await siege.answer((await asked(siege, task)).id, "allow", { for: "turn" });
    await task.first(({ event, private: secret }) =>
      event === "taskStatus" && secret?.["answer"] !== undefined
    );
    assert.equal(task.events.filter(({ event }) => event === "questionAsked").length, 1);
    await siege.ask("say", { task: task.id, text: "Once more." });
    assert.equal((await asked(siege, task, 2)).turn, 2);
  });
});
