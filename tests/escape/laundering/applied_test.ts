/**
 * A task that read a mail writes its words into the folder, and a person lets it. The next task would have read them
 * there as the folder's own: no longer RED, no longer secret.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Digest, Question } from "../../../contracts/authority/mod.ts";
import { besiege, type Siege, type Watched } from "../../fake/siege.ts";
import { realTools } from "../../fake/tools.ts";
import { calling, type Came, cameOf, type Try } from "../_calls.ts";
import { MAIL } from "./_laundry.ts";

const WORDS = `# Plan\n\n${MAIL}\n`;
const RED = { colour: "RED", label: "secret" };
const MARKS = [{ path: "inbox", colour: "RED" as const, label: "secret" as const }];

/** A task reads the mail and stages these files; what it is asked at its review. */
async function asksToApply(
  siege: Siege,
  files: Readonly<Record<string, string>>,
): Promise<{ readonly task: Watched; readonly question: Question }> {
  await Deno.mkdir(`${siege.desk}/inbox`, { recursive: true });
  await Deno.writeTextFile(`${siege.desk}/inbox/mail.eml`, `${MAIL}\n`);
  const writes = Object.entries(files).map(([path, content]): Try => [
    "file_write",
    { path: `desk/${path}`, content },
  ]);
  const task = await siege.run({
    program: calling([["file_read", { path: "desk/inbox/mail.eml" }], ...writes]),
    mounts: [siege.mount({ marks: MARKS })],
    onQuestion: "ask",
  });
  const { body } = await task.first(({ event }) => event === "questionAsked");
  return { task, question: await siege.question(String(body["question"])) };
}

/** Applies them on a person's yes, of whom `seen` of the new contents were shown. */
async function applied(
  siege: Siege,
  files: Readonly<Record<string, string>>,
  seen: (asked: Question) => readonly Digest[] = () => [],
): Promise<Watched> {
  const { task, question } = await asksToApply(siege, files);
  await siege.answer(question.id, "allow", { sanitizes: [...seen(question)] });
  await task.end;
  for (const [path, content] of Object.entries(files)) {
    assert.equal(await Deno.readTextFile(`${siege.desk}/${path}`), content);
  }
  return task;
}

const all = ({ changes }: Question): Digest[] => changes.flatMap(({ next }) => next ?? []);

/** What one call brings to another task, to which the folder is like any other. */
async function next(siege: Siege, call: Try): Promise<Pick<Came, "colour" | "label">> {
  const task = await siege.run({ program: calling([call]), mounts: [siege.mount()] });
  const [came] = await cameOf(task);
  assert.equal(came?.outcome, "ok", JSON.stringify(came));
  assert.match(came?.content ?? "", /mallory|plan|paid|supplier|new\.md|^\n?$/);
  return { colour: came?.colour ?? "", label: came?.label ?? "" };
}

const READ: Try = ["file_read", { path: "desk/new.md" }];

Deno.test("a mail's words would have lost colour and label by being applied to the folder, by whichever tool they are read", async () => {
  const tools = await realTools();
  await besiege(async (siege) => {
    const { id } = await applied(siege, { "new.md": WORDS });
    assert.deepEqual(await next(siege, READ), RED);
    assert.deepEqual(await next(siege, ["file_read", { path: "desk/new.md", from: 3 }]), RED);
    assert.deepEqual(await next(siege, ["file_search", { query: "mallory", path: "desk" }]), RED);
    const plugin: Try = ["text_search", { path: "desk/new.md", query: "mallory" }];
    assert.deepEqual(await next(siege, plugin), RED);
    // An edit of it is made of it.
    const edit: Try = ["file_edit", { path: "desk/new.md", old: "# Plan", new: "# New plan" }];
    assert.deepEqual(await next(siege, edit), RED);
    // A person's own copy has the same bytes.
    await Deno.copyFile(`${siege.desk}/new.md`, `${siege.desk}/notes/copy.md`);
    assert.deepEqual(await next(siege, ["file_read", { path: "desk/notes/copy.md" }]), RED);
    // Neither the end of the kernel nor that of all that is kept of the task changes it.
    await siege.ask("archive", { task: id });
    await siege.ask("purge", { task: id });
    await siege.restart();
    assert.deepEqual(await next(siege, READ), RED);
    assert.deepEqual(await next(siege, ["file_read", { path: "desk/notes/plan.md" }]), {
      colour: "YELLOW",
      label: "internal",
    });
  }, { config: { tools } });
});

Deno.test("a person's yes to what was shown whole gives it the folder's colour, on record, and never another label", async () => {
  await besiege(async (siege) => {
    const task = await applied(siege, { "new.md": WORDS }, all);
    assert.deepEqual(await next(siege, READ), { colour: "YELLOW", label: "secret" });
    const outcome = task.events.find(({ private: secret }) =>
      (secret["record"] as { applied?: unknown } | undefined)?.applied !== undefined
    );
    const { sanitized } = outcome?.private["record"] as { sanitized: Record<string, unknown> };
    assert.equal(sanitized["by"], "carol (terminal)");
    const digest = createHash("sha256").update(WORDS).digest("hex");
    assert.deepEqual(sanitized["contents"], [
      { path: "desk/new.md", digest, from: "RED", to: "YELLOW" },
    ]);
  });
});

Deno.test("an edit that was shown would have made the rest of a RED file clean, which no diff shows", async () => {
  await besiege(async (siege) => {
    await applied(siege, { "new.md": WORDS });
    const { task, question } = await asksToApply(siege, { "new.md": `${WORDS}paid\n` });
    await siege.answer(question.id, "allow", { sanitizes: all(question) });
    await task.end;
    assert.equal(await Deno.readTextFile(`${siege.desk}/new.md`), `${WORDS}paid\n`);
    assert.deepEqual(await next(siege, READ), RED);
  });
});

Deno.test("an answer would have made clean what its question does not show, or what nobody looked at", async () => {
  await besiege(async (siege) => {
    const { task, question } = await asksToApply(siege, { "new.md": WORDS });
    const other = createHash("sha256").update("other").digest("hex") as Digest;
    const refused = { code: "refused" };
    await assert.rejects(siege.answer(question.id, "allow", { sanitizes: [other] }), refused);
    for (const channel of ["command", "answersFile"] as const) {
      // Signed as it stands, only through a channel that shows nothing before the yes.
      const sanitizes = all(question);
      await assert.rejects(siege.answer(question.id, "allow", { sanitizes, channel }), refused);
    }
    // Added to an answer after it was signed.
    const forge = (answer: object) => ({ ...answer, sanitizes: all(question) }) as never;
    await assert.rejects(siege.answer(question.id, "allow", { forge }), refused);
    await siege.answer(question.id, "allow");
    await task.end;
    assert.deepEqual(await next(siege, READ), RED);
  });
});

Deno.test("a line break that a RED task wrote would have made every such file RED", async () => {
  await besiege(async (siege) => {
    await applied(siege, { "new.md": "\n", "empty.md": "" });
    for (const path of ["desk/new.md", "desk/empty.md"]) {
      const clean = { colour: "YELLOW", label: "internal" };
      assert.deepEqual(await next(siege, ["file_read", { path }]), clean);
    }
  });
});

Deno.test("a folder of state from before contents were recorded would have had no colour of what its tasks applied", async () => {
  await besiege(async (siege) => {
    await applied(siege, { "new.md": WORDS });
    await siege.ask("stop", null).catch(() => undefined);
    // What an earlier version leaves: the log alone.
    for (const end of ["", "-wal", "-shm"]) {
      await Deno.remove(`${siege.config.dir}/contents.db${end}`).catch(() => undefined);
    }
    await siege.restart();
    assert.deepEqual(await next(siege, READ), RED);
  });
});
