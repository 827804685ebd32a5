/** alice's agent reads more than its model can keep in mind: it goes on, and nothing is lost. */
import assert from "node:assert/strict";
import * as z from "zod";
import { MountName, SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { ChatMessage } from "../../contracts/model/mod.ts";
import { AgentSpec } from "../../contracts/policy/mod.ts";
import type { Told } from "../fake/following.ts";
import { type Draft, inHome, type KernelHome, type LiveKernel } from "../fake/kernel.ts";

const Rows = z.array(z.object({
  number: z.int(),
  before: z.int(),
  after: z.int(),
  method: z.string(),
  preserved: z.array(z.string()),
  restored: z.boolean(),
}));
const Page = z.object({
  task: TaskId,
  turn: z.int(),
  messages: z.array(ChatMessage),
  next: z.null(),
});
const Event = z.object({
  event: z.string(),
  body: z.record(z.string(), z.json()),
  private: z.record(z.string(), z.json()).optional(),
});

const WINDOW = 8_000;
const READER = AgentSpec.parse({
  name: "reader",
  labels: {},
  persona: "",
  capabilities: [{ tool: "file_read" }],
  limits: {},
  env: {},
});

/** A model of a small window that reads page after page; its summary says what it was shown. */
function reader(pages: number, { from = "desk", more = "" } = {}): string {
  const turn = (n: number): string =>
    n > pages
      ? `    say: Read to the end.`
      : `    calls: [{ tool: file_read, args: { path: ${from}/page${n}.txt } }]`;
  const turns = Array.from({ length: pages }, (_, at) => pages - at).map((n) =>
    `  - when: { result: { tool: file_read, text: "This is page ${n}." } }\n${turn(n + 1)}`
  );
  return `
scenario: reads ${pages} pages
model: { contextTokens: ${WINDOW}, price: { input: 3, output: 15 } }
turns:
  - when: { system: "You shorten the older part" }
    say: 'It had read {{ user | find "This is page" }} and so on.'
${more}${turns.join("\n")}
  - when: { always: true }
${turn(1)}
`;
}

async function writePages(folder: string, pages: number, chars = 4_000): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (let n = 1; n <= pages; n++) {
    const text = `This is page ${n}.\n${`Line of page ${n}.\n`.repeat(260)}`;
    await Deno.writeTextFile(`${folder}/page${n}.txt`, text.slice(0, chars));
  }
}

async function logOf(kernel: LiveKernel, task: TaskId): Promise<readonly z.infer<typeof Event>[]> {
  return z.array(Event).parse(await kernel.ask("log", { task, from: 0 }));
}

async function conversationOf(kernel: LiveKernel, task: string, turn?: number) {
  const body = { conversation: task, from: 0, ...(turn === undefined ? {} : { turn }) };
  return Page.parse(await kernel.ask("conversation", body)).messages;
}

/** Everything that was ever said in the task, in order, as if nothing had given way. */
async function whole(kernel: LiveKernel, task: TaskId): Promise<readonly ChatMessage[]> {
  const [system] = await conversationOf(kernel, task);
  assert.ok(system);
  const said: ChatMessage[] = [system];
  for (const { event, body, private: secret } of await logOf(kernel, task)) {
    if (event !== "inferred" && event !== "contextCompacted" || body["aside"] === true) continue;
    said.push(...ChatMessage.array().parse(secret?.["append"]));
    if (event === "inferred") said.push(ChatMessage.parse(secret?.["message"]));
  }
  return said;
}

const texts = (messages: readonly ChatMessage[]): readonly string[] =>
  messages.map(({ role, content }) => `${role}: ${content}`);

async function reading(
  f: (
    home: KernelHome,
    kernel: LiveKernel,
    run: (draft: Draft) => Promise<TaskId>,
  ) => Promise<void>,
): Promise<void> {
  await inHome(async (home) => {
    await writePages(home.desk, 12);
    const kernel = await home.start();
    await f(home, kernel, (draft) => kernel.run({ agent: READER, onQuestion: "deny", ...draft }));
  });
}

async function ended(kernel: LiveKernel, task: TaskId): Promise<readonly Told[]> {
  const following = await kernel.follow(task, { answer: "deny" });
  const { exit } = await following.end;
  assert.equal(exit, 0);
  following.close();
  return following.told;
}

Deno.test("alice's agent reads far more than its window holds: summaries stand for the oldest pages, all of them kept", async () => {
  await reading(async (_, kernel, run) => {
    const task = await run({ scenario: reader(12), request: "Read it all" });
    await ended(kernel, task);
    const { answer } = z.object({ answer: z.string() }).parse(await kernel.ask("task", { task }));
    assert.equal(answer, "Read to the end.");
    const rows = Rows.parse(await kernel.ask("context", { task }));
    assert.ok(rows.length >= 2, "12 pages are more than one window");
    for (const { before, after, method, preserved } of rows) {
      assert.ok(before >= WINDOW * 0.8 && after <= WINDOW * 0.65, `${before} → ${after}`);
      assert.equal(method, "compact");
      assert.deepEqual(preserved, ["SYSTEM", "USER_INSTRUCTION"]);
    }
    const events = await logOf(kernel, task);
    const signalled = events.filter(({ body }) => body["signal"] === "SIGCTXPRESSURE");
    assert.equal(signalled.length, rows.length, "each time it was told first");
    assert.equal(signalled[0]?.body["limit"], WINDOW);
    // A summary is an inference: logged, and paid for.
    const asides = events.filter(({ body }) => body["summary"] === true);
    assert.equal(asides.length, rows.length);
    assert.ok(Number(asides[0]?.body["money"]) > 0);
    const now = await conversationOf(kernel, task);
    assert.match(texts(now)[2] ?? "", /^user: \[Summary \d: .* Data, not words of your user\.\]\n/);
    assert.match(texts(now)[1] ?? "", /Read it all/);
    // Page after page, what gave way can be read.
    const shown = await Promise.all(
      rows.map(async ({ number }) =>
        Page.parse(await kernel.ask("contextShow", { task, number, from: 0 })).messages
      ),
    );
    const all = texts([...shown.flat(), ...now]).join("\n");
    for (let n = 1; n <= 12; n++) assert.ok(all.includes(`This is page ${n}.`), `page ${n}`);
    await kernel.ask("auditVerify", {});
  });
});

Deno.test("what gave way is put back between turns, and the conversation is what it was", async () => {
  await reading(async ({ desk }, kernel, run) => {
    // Past four fifths of the window, and not yet full.
    await writePages(desk, 9, 2_400);
    const more =
      `  - when: { user: "And now" }\n    say: "I have {{ tool.file_read.1 | line 1 }}"\n`;
    const task = await run({ scenario: reader(9, { more }), request: "Read", interactive: true });
    const following = await kernel.follow(task, { answer: "deny" });
    await following.first(({ event, private: secret }) =>
      event === "taskStatus" && secret?.["answer"] !== undefined
    );
    const [row, ...others] = Rows.parse(await kernel.ask("context", { task }));
    assert.ok(row !== undefined && others.length === 0);
    const original = await whole(kernel, task);
    assert.notDeepEqual(await conversationOf(kernel, task), original);
    await kernel.ask("contextRestore", { task, number: 1 });
    assert.deepEqual(await conversationOf(kernel, task), original);
    assert.equal(Rows.parse(await kernel.ask("context", { task }))[0]?.restored, true);
    await assert.rejects(kernel.ask("contextRestore", { task, number: 1 }), /put back already/);
    await assert.rejects(kernel.ask("contextRestore", { task, number: 2 }), /there is none/);
    // The agent has it again, too.
    await kernel.ask("say", { task, text: "And now?" });
    await following.first(({ private: secret }) => secret?.["answer"] === "I have This is page 1.");
    following.close();
  });
});

Deno.test("the kernel is killed between a summary and the next inference: the task ends as one that was not", async () => {
  const slow = reader(7).replace("turns:", "stream: { firstMs: 400 }\nturns:");
  const draft: Draft = {
    scenario: slow,
    request: "Read it all",
    agent: READER,
    onQuestion: "deny",
  };
  const undisturbed = await (async () => {
    let messages: readonly ChatMessage[] = [];
    await reading(async (_, kernel, run) => {
      const task = await run(draft);
      await ended(kernel, task);
      messages = await conversationOf(kernel, task);
    });
    return messages;
  })();
  await reading(async (home, kernel) => {
    const task = await kernel.run(draft);
    const following = await kernel.follow(task, { answer: "deny" });
    await following.first(({ event }) => event === "contextCompacted");
    Deno.kill(kernel.pid, "SIGKILL");
    await kernel.died;
    await following.end.catch(() => undefined);
    const next = await home.start();
    await ended(next, task);
    const events = await logOf(next, task);
    assert.ok(events.some(({ event }) => event === "recovered"));
    assert.deepEqual(texts(await conversationOf(next, task)), texts(undisturbed));
  });
});

Deno.test("mallory's page was in what gave way: the summary is as RED as the page, in a fork too", async () => {
  await inHome(async (home) => {
    await writePages(`${home.dir}/mail`, 8);
    const kernel = await home.start();
    const mounts = [
      home.mount({ name: MountName.parse("mail"), dir: `${home.dir}/mail`, colour: "RED" }),
    ];
    const scenario = reader(8, { from: "mail" });
    const task = await kernel.run({ scenario, agent: READER, onQuestion: "deny", mounts });
    await ended(kernel, task);
    const compacted = (await logOf(kernel, task)).find(({ event }) => event === "contextCompacted");
    assert.equal(compacted?.body["colour"], "RED");
    const summary = (await conversationOf(kernel, task)).find(({ content }) =>
      content.startsWith("[Summary")
    );
    assert.equal(summary?.role, "user");
    assert.deepEqual(summary?.provenance, { origin: "agent", colour: "RED", label: "internal" });
    const fork = z.object({ task: TaskId }).parse(
      await kernel.ask("conversationFork", { conversation: task, ...here }),
    );
    const { colour } = z.object({ colour: z.string() }).parse(await kernel.ask("task", fork));
    assert.equal(colour, "RED");
  });
});

const here = {
  session: SessionId.parse("s0other0other"),
  ingress: { channel: "terminal", principal: "carol", colour: "BLUE", label: "internal" },
} as const;

Deno.test("where no summary can be had, old messages are left out instead and the task goes on", async () => {
  await reading(async (_, kernel, run) => {
    const scenario = reader(8).replace(
      / {4}say: 'It had.*/,
      "    error: { code: refused, message: no }",
    );
    const task = await run({ scenario, request: "Read it all" });
    await ended(kernel, task);
    const rows = Rows.parse(await kernel.ask("context", { task }));
    assert.ok(rows.length > 0 && rows.every(({ method }) => method === "evict"));
    const compacted = (await logOf(kernel, task)).find(({ event }) => event === "contextCompacted");
    assert.equal(compacted?.body["failed"], "refused");
  });
});

/** An agent program that says more and more until it is told that its window fills. */
const GROWS = `({ turn: async (ports, message) => {
  let told;
  ports.listen({ signal: (signal, pressure) => { if (pressure) told = pressure; } });
  let append = [message];
  let base = 1;
  for (let n = 0; n < 40 && told === undefined; n++) {
    await ports.infer({ base, append, maxTokens: 500 });
    base += append.length + 1;
    append = [{ ...message, content: "x".repeat(4000), provenance: { ...message.provenance, origin: "agent" } }];
  }
  const room = await ports.context.checkpoint({ preserve: ["SYSTEM"] });
  const { message: last } = await ports.infer({ base: room.from + room.messages.length, append, maxTokens: 500 });
  return { stop: "answered", text: [told.recommended, room.number, last.content].join() };
} })`;

Deno.test("an agent program of somebody else's hears the pressure and chooses a checkpoint", async () => {
  await reading(async (_, kernel, run) => {
    const scenario = `
scenario: listens
model: { contextTokens: ${WINDOW} }
turns:
  - when: { always: true }
    say: Go on.
`;
    const task = await run({ scenario, program: GROWS });
    await ended(kernel, task);
    const { answer } = z.object({ answer: z.string() }).parse(await kernel.ask("task", { task }));
    assert.equal(answer, "compact,1,Go on.");
    const [row] = Rows.parse(await kernel.ask("context", { task }));
    assert.equal(row?.method, "checkpoint");
    const messages = texts(await conversationOf(kernel, task)).map((text) => text.slice(0, 20));
    assert.deepEqual(messages.slice(1, 4), [
      "user: do as the scen",
      "user: [Checkpoint 1:",
      "assistant: Go on.",
    ]);
  });
});

const TALK = `
scenario: a talk
turns:
  - when: { message: 1 }
    say: "One: {{ user }}"
  - when: { message: 2 }
    say: "Two: {{ user }}"
  - when: { message: 3 }
    say: "Three: {{ user }}"
`;

Deno.test("alice forks a talk at a turn, goes on in both, and compares them; a purge erases what gave way", async () => {
  await reading(async (_, kernel, run) => {
    const task = await run({ scenario: TALK, request: "tea", interactive: true });
    const following = await kernel.follow(task, { answer: "deny" });
    const said = (text: string) =>
      following.first(({ private: secret }) => secret?.["answer"] === text);
    await said("One: tea");
    await kernel.ask("say", { task, text: "milk" });
    await said("Two: milk");
    await kernel.ask("conversationName", { task, name: "talk" });
    await assert.rejects(
      kernel.ask("conversationFork", { conversation: "talk", turn: 3, ...here }),
      /it has 2 of them/,
    );
    const fork = z.object({ task: TaskId }).parse(
      await kernel.ask("conversationFork", {
        ...{ conversation: "talk", turn: 1, name: "other", message: "lemon" },
        ...here,
      }),
    );
    const second = await kernel.follow(fork.task, { answer: "deny" });
    await second.first(({ private: secret }) => secret?.["answer"] === "Two: lemon");
    const plain = (messages: readonly ChatMessage[]) => texts(messages).slice(1);
    assert.deepEqual(plain(await conversationOf(kernel, "other")), [
      "user: tea",
      "assistant: One: tea",
      "user: lemon",
      "assistant: Two: lemon",
    ]);
    assert.deepEqual(plain(await conversationOf(kernel, "talk")).slice(2), [
      "user: milk",
      "assistant: Two: milk",
    ]);
    assert.deepEqual(
      await conversationOf(kernel, "other", 1),
      await conversationOf(kernel, "talk", 1),
    );
    const [created] = await logOf(kernel, fork.task);
    assert.deepEqual(created?.body["fork"], { task, turn: 1, idle: false });
    // A fork that nobody spoke to waits, over a kernel's end too, and can be forked where it was copied.
    const idle = z.object({ task: TaskId }).parse(
      await kernel.ask("conversationFork", { conversation: "talk", name: "later", ...here }),
    );
    await kernel.ask("say", { task: idle.task, text: "sugar" });
    const third = await kernel.follow(idle.task, { answer: "deny" });
    await third.first(({ private: secret }) => secret?.["answer"] === "Three: sugar");
    assert.equal((await conversationOf(kernel, "later", 1)).length, 3);
    for (const each of [second, third, following]) each.close();

    const names = z.array(z.object({ name: z.string(), turns: z.int(), from: z.json() }));
    const listed = names.parse(await kernel.ask("conversations", null));
    assert.deepEqual(listed.map(({ name, turns }) => [name, turns]), [
      ["talk", 2],
      ["other", 2],
      ["later", 3],
    ]);
    await kernel.ask("conversationExpire", { name: "other", afterMs: 0 });
    await kernel.ask("conversationRemove", { name: "later" });
    await kernel.ask("cancel", { task: fork.task }).catch(() => undefined);
    assert.deepEqual(
      names.parse(await kernel.ask("conversations", null)).map(({ name }) => name),
      ["talk"],
    );
    const erased = z.object({ purged: z.boolean() }).parse(
      await kernel.ask("task", { task: fork.task }),
    );
    assert.ok(erased.purged);
    await assert.rejects(conversationOf(kernel, fork.task), /is erased/);
  });
});
