/** carol's model fails in the midst of a talk, and the kernel is killed before she says another word. */
import assert from "node:assert/strict";
import type { TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, type Json } from "../../contracts/base/mod.ts";
import { inHome, type KernelHome, type LiveKernel } from "../fake/kernel.ts";
import type { Following, Told } from "../fake/following.ts";

/** Reads, stages, and fails; the second words are its second only where it still knows the first. */
const SCENARIO = `
scenario: fails once
turns:
  - when: { message: 1, step: 1 }
    calls:
      - { tool: file_read, args: { path: desk/mail.txt } }
      - { tool: file_write, args: { path: desk/plan.md, content: "sign for the lantern" } }
  - when: { message: 1, step: 2 }
    error: { code: upstream, message: the provider is away }
  - when: { message: 2 }
    say: 'You said {{ user }}.'
`;

const failed = ({ event, body }: Told): boolean =>
  event === "taskStatus" && body["failed"] !== undefined;

async function failing(home: KernelHome): Promise<{ kernel: LiveKernel; task: TaskId }> {
  await Deno.writeTextFile(`${home.desk}/mail.txt`, "the lantern is here\n");
  const kernel = await home.start();
  const task = await kernel.run({
    ...{ scenario: SCENARIO, request: "read my mail", interactive: true, onQuestion: "ask" },
    limits: { retries: 0 },
  });
  const following = await kernel.follow(task, { answer: "deny" });
  const { body } = await following.first(failed);
  assert.equal(body["failed"], EXIT.upstreamFailure);
  return { kernel, task };
}

async function stagedPaths(kernel: LiveKernel, task: TaskId): Promise<Json[]> {
  const { changes } = await kernel.ask("staged", { task }) as { changes: { path: Json }[] };
  return changes.map(({ path }) => path);
}

const answerOf = async ({ first }: Following): Promise<Json | undefined> =>
  (await first(({ event, private: secret }) =>
    event === "taskStatus" && secret?.["answer"] !== undefined
  )).private?.["answer"];

Deno.test("carol's talk goes on in the next kernel: her words and what was staged are there, and nothing is run without her", async () => {
  await inHome(async (home) => {
    const { kernel, task } = await failing(home);
    const before = await stagedPaths(kernel, task);
    Deno.kill(kernel.pid, "SIGKILL");
    await kernel.died;

    const next = await home.start();
    const state = await next.ask("task", { task }) as { status: Json };
    assert.equal(state.status, "open", "it waits for her words, and nothing is run without them");
    assert.deepEqual(await next.ask("ps", null), []);
    assert.deepEqual(await stagedPaths(next, task), before);
    const following = await next.follow(task, { answer: "deny" });
    await next.ask("say", { task, text: "try again" });
    assert.equal(
      await answerOf(following),
      "You said try again.",
    );
    const verified = await next.ask("auditVerify", {}) as { ok: Json };
    assert.equal(verified.ok, true);
  });
});

Deno.test("words that carol said just before the kernel was killed are heard by the next one, once", async () => {
  await inHome(async (home) => {
    const { kernel, task } = await failing(home);
    // Acknowledged: they are on record. Whether their turn came to anything is another matter.
    await kernel.ask("say", { task, text: "try again" });
    Deno.kill(kernel.pid, "SIGKILL");
    await kernel.died;

    const next = await home.start();
    const following = await next.follow(task, { answer: "deny" });
    assert.equal(
      await answerOf(following),
      "You said try again.",
    );
    const words = following.told.filter(({ event, private: secret }) =>
      event === "message" && JSON.stringify(secret).includes("try again")
    );
    assert.equal(words.length, 1);
  });
});
