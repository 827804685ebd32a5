/** A task that was cut off goes on as if it had not been: compared with one that was not. */
import assert from "node:assert/strict";
import type { TaskId } from "../../contracts/authority/mod.ts";
import type { Json } from "../../contracts/base/mod.ts";
import type { Mount } from "../../contracts/tool/mod.ts";
import type { Following } from "../fake/following.ts";
import { type Draft, inHome, type KernelHome, type LiveKernel } from "../fake/kernel.ts";

const SCENARIO = `
scenario: mail
model: { price: { input: 3, output: 15 } }
turns:
  - say: First the mail.
    calls: [{ tool: file_read, args: { path: desk/mail.txt } }]
  - say: Now the plan.
    calls:
      - tool: file_write
        args: { path: desk/plan.md, content: 'On the list: {{ tool.file_read | find "lantern" }}' }
      - { tool: scratch_write, args: { path: scratch/note.txt, content: "remember" } }
  - say: 'I ask for it, having read {{ tool.file_read | find "lantern" }}.'
    calls: [{ tool: patch_apply }]
  - say: Closed.
`;

/** What there is of a task when it asks. */
interface Standing {
  readonly process: Json;
  readonly staged: Json;
  readonly messages: readonly Json[];
  readonly question: object;
}

async function stand(kernel: LiveKernel, following: Following): Promise<Standing> {
  await following.first(({ event }) => event === "questionAsked");
  const [row] = await kernel.ask("ps", null) as { colour: Json; label: Json; usage: Json }[];
  const { changes, patch } = await kernel.ask("staged", { task: following.task }) as {
    changes: Json;
    patch: Json;
  };
  const [question] = await kernel.questions(following.task);
  assert.ok(row && question);
  const { scope, summary, sources, asked, turn, callId, kind } = question;
  return {
    process: { colour: row.colour, label: row.label, usage: row.usage },
    staged: { changes, patch },
    question: { scope, summary, sources, asked, turn, callId: callId ?? "", kind },
    messages: messagesOf(following),
  };
}

/** The conversation as the log has it, in order. */
function messagesOf({ told }: Following): readonly Json[] {
  const conversation: Json[] = [];
  for (const { event, body, private: secret } of told) {
    if (event !== "inferred") continue;
    // The system message comes first and is not logged.
    conversation.length = Math.min(conversation.length, Number(body["base"]) - 1);
    conversation.push(...secret?.["append"] as Json[], secret?.["message"] ?? null);
  }
  return conversation;
}

async function draftIn(home: KernelHome): Promise<Draft> {
  await Deno.writeTextFile(`${home.desk}/mail.txt`, "Dear Alice,\nthe lantern is here.\n");
  const marks: Mount["marks"] = [{ path: "mail.txt", colour: "RED", label: "secret" }];
  return { scenario: SCENARIO, mounts: [home.mount({ marks })], onQuestion: "ask" };
}

async function finish(kernel: LiveKernel, task: TaskId): Promise<void> {
  const following = await kernel.follow(task, { answer: "allow" });
  assert.deepEqual(await following.end, { status: "done", exit: 0 });
}

const uninterrupted: { standing?: Standing } = {};

/** How it stands where no kernel was killed. */
async function control(): Promise<Standing> {
  await inHome(async (home) => {
    const kernel = await home.start();
    const task = await kernel.run(await draftIn(home));
    const following = await kernel.follow(task, { answer: "leave" });
    uninterrupted.standing = await stand(kernel, following);
    await finish(kernel, task);
  });
  assert.ok(uninterrupted.standing);
  return uninterrupted.standing;
}

/** Outcomes: 1 the read, 2 the write, 3 the scratch file. */
for (const after of [2, 3]) {
  Deno.test(`a conversation goes on as it was when the kernel is killed after outcome ${after}`, async () => {
    const expected = uninterrupted.standing ?? await control();
    await inHome(async (home) => {
      const doomed = await home.start({ failpoint: { at: "afterOutcome", after } });
      const task = await doomed.run(await draftIn(home));
      await doomed.dies();
      const next = await home.start();
      // Nobody looked when the kernel took the task up, so its question waits; asked to, it asks.
      const following = await next.follow(task, { answer: "leave" });
      await following.end;
      await next.ask("resume", { task });
      const standing = await waitForRow(next, following);
      assert.deepEqual(standing, expected);
      await finish(next, task);
      const [plan, want] = [
        await Deno.readTextFile(`${home.desk}/plan.md`),
        "the lantern is here.",
      ];
      assert.equal(plan, `On the list: ${want}`);
    });
  });
}

async function waitForRow(kernel: LiveKernel, following: Following): Promise<Standing> {
  const opened = following.told.findLast(({ event }) => event === "taskStatus")?.n ?? 0;
  await following.first(({ event, n }) => n > opened && event === "leaseGranted");
  return await stand(kernel, following);
}
