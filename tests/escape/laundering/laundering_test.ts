import assert from "node:assert/strict";
import { besiege } from "../../fake/siege.ts";
import { type Came } from "../_calls.ts";
import { holding } from "../../fake/files_beneath.ts";
import { launder, MAIL } from "./_laundry.ts";

const READ = ["file_read", { path: "desk/inbox/mail.eml" }];
const RED = { colour: "RED", label: "secret" };
const CLEAN = { colour: "BLUE", label: "public" };

const WAYS: Readonly<Record<string, readonly [dirty: unknown[], clean: unknown[]]>> = {
  "a note in scratch": [
    [READ, ["scratch_write", { path: "scratch/note", content: MAIL }]],
    [["file_read", { path: "scratch/note" }]],
  ],
  "a staged file": [
    [READ, ["file_write", { path: "desk/clean.md", content: MAIL }]],
    [["file_read", { path: "desk/clean.md" }]],
  ],
  "an edit of a clean file": [
    [READ, ["file_edit", { path: "desk/notes/plan.md", old: "supplier", new: MAIL }]],
    [["file_read", { path: "desk/notes/plan.md" }]],
  ],
  "the name of a staged file": [
    [READ, ["file_write", { path: "desk/pay mallory-account-99.md", content: "x" }]],
    [["file_list", { path: "desk" }]],
  ],
  "the name of a note": [
    [READ, ["scratch_write", { path: "scratch/pay mallory-account-99", content: "x" }]],
    [["file_list", { path: "scratch" }]],
  ],
  "a search": [
    [READ, ["file_write", { path: "desk/clean.md", content: MAIL }]],
    [["file_search", { query: "mallory-account", path: "desk/clean.md" }]],
  ],
};

for (const [way, [dirty, clean]] of Object.entries(WAYS)) {
  Deno.test(`a mail's words would have lost their colour and label through ${way}`, async () => {
    await launder(dirty, clean, (came) => {
      const [before, found] = came;
      assert.deepEqual({ colour: before?.colour, label: before?.label }, CLEAN);
      assert.match(String(found?.content), /mallory-account/);
      assert.deepEqual({ colour: found?.colour, label: found?.label }, RED);
    });
  });
}

Deno.test("a mail's words would have left the outbox as clean text, under a clean name", async () => {
  await launder(
    [READ, ["scratch_write", { path: "scratch/note", content: MAIL }]],
    [["outbox_publish", { path: "scratch/note", name: "invoice.md" }]],
    async ([before, published], task) => {
      assert.equal(before?.colour, "BLUE");
      assert.equal(published?.outcome, "ok");
      const artifact = task.events.find(({ private: secret }) =>
        (secret["record"] as { artifact?: unknown } | undefined)?.artifact !== undefined
      );
      const record = artifact?.private["record"] as { artifact: Came };
      assert.deepEqual({ colour: record.artifact.colour, label: record.artifact.label }, RED);
      await Promise.resolve();
    },
  );
});

Deno.test("a patch of a mail's words would have been asked for as a clean one, once its task had ended", async () => {
  await besiege(async (siege) => {
    await Deno.mkdir(`${siege.desk}/inbox`);
    await Deno.writeTextFile(`${siege.desk}/inbox/mail.eml`, `${MAIL}\n`);
    const marks = [{ path: "inbox", colour: "RED" as const, label: "secret" as const }];
    // The parent hears nothing of its child: only that it ended.
    const program = `({ async turn(ports, { content }) {
      const { id, tools } = await ports.advertise();
      const call = (n, name, args) => ports.call(id, { id: n, name, arguments: JSON.stringify(args) });
      if (content === "dirty") {
        await call("a", "file_read", { path: "desk/inbox/mail.eml" });
        await call("b", "file_write", { path: "desk/clean.md", content: ${JSON.stringify(MAIL)} });
        return { stop: "answered", text: "" };
      }
      const over = new Promise((resolve) => ports.listen({ signal: (signal) => signal === "SIGCHLD" && resolve() }));
      await ports.spawn({ persona: "", request: "dirty", tools: tools.map(({ name }) => name), limits: {} });
      await over;
      return { stop: "answered", text: "clean" };
    } })`;
    const mount = siege.mount({ colour: "BLUE", label: "public", marks });
    const task = await siege.run({ program, mounts: [mount], onQuestion: "ask" });
    const { body } = await task.first(({ event }) => event === "questionAsked");
    const [row] = await siege.ask("ps", null) as { colour: string; label: string }[];
    assert.deepEqual({ colour: row?.colour, label: row?.label }, CLEAN);
    const { scope, changes } = await siege.question(String(body["question"]));
    assert.deepEqual({ colour: scope.colour, label: scope.label }, RED);
    assert.deepEqual(changes.map(({ path, colour, label }) => ({ path, colour, label })), [
      { path: "desk/clean.md", ...RED },
    ]);
  });
});

Deno.test("a receipt would have carried a mail's words to whoever is shown it", async () => {
  await besiege(async (siege) => {
    await Deno.writeTextFile(`${siege.desk}/mail.eml`, `${MAIL}\n`);
    const task = await siege.run({
      turns: `
  - say: "${MAIL}"
    calls: [{ tool: file_read, args: { path: desk/mail.eml } }, { tool: scratch_write, args: { path: scratch/mallory-account-99, content: "${MAIL}" } }]
  - say: Done.`,
    });
    assert.equal((await task.end).exit, 0);
    const receipts = JSON.stringify(await siege.ask("receipts", { task: task.id }));
    assert.match(receipts, /file_read/);
    assert.equal(/mallory|Dear agent/.test(receipts), false);
    // Purged, the words are nowhere in the state, and the chain still holds.
    await siege.ask("archive", { task: task.id });
    await siege.ask("purge", { task: task.id });
    const verified = await siege.ask("auditVerify", {}) as { ok?: boolean };
    assert.equal(verified.ok, true, JSON.stringify(verified));
    assert.deepEqual(await holding(`${siege.config.dir}/work`, "mallory-account"), []);
  });
});
