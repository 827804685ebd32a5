/** What a person decided before a crash still holds after it. */
import assert from "node:assert/strict";
import type { TaskId } from "../../contracts/authority/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import { inHome, type LiveKernel } from "../fake/kernel.ts";
import { EDITS, filesOf, isAfter, isBefore, makeDesk } from "./desk.ts";

async function statusOf(kernel: LiveKernel, task: TaskId): Promise<string> {
  return AgentTask.parse(await kernel.ask("task", { task })).status;
}

Deno.test("a lease that carol took back is not granted again by a crash", async () => {
  await inHome(async (home) => {
    await makeDesk(home.desk);
    const kernel = await home.start();
    const task = await kernel.run({ scenario: EDITS });
    const following = await kernel.follow(task, { answer: "leave" });
    await following.first(({ event }) => event === "questionAsked");
    const leases = await kernel.ask("leases", { task }) as {
      id: string;
      scope: { resource: string; right: string };
    }[];
    const write = leases.find(({ scope }) => scope.resource === "mount" && scope.right === "write");
    await kernel.ask("revoke", { lease: write?.id });
    await kernel.kill();

    const next = await home.start();
    const after = await next.follow(task, { answer: "allow" });
    await after.end;
    await isBefore(home.desk);
    const granted = after.told.filter(({ event, n }) =>
      event === "leaseGranted" && n > (following.told.at(-1)?.n ?? 0)
    );
    assert.ok(granted.length > 0, "it was granted the rest again");
    assert.ok(
      !granted.some(({ body }) => body["resource"] === "mount" && body["right"] === "write"),
    );
  });
});

Deno.test("a budget that carol extended stays extended", async () => {
  await inHome(async (home) => {
    await makeDesk(home.desk);
    const kernel = await home.start();
    const task = await kernel.run({ scenario: EDITS, limits: { toolCalls: 4 } });
    const following = await kernel.follow(task, { answer: "leave" });
    await following.first(({ event }) => event === "questionAsked");
    await kernel.ask("extend", { task, limits: { toolCalls: 400 } });
    await kernel.kill();
    const next = await home.start();
    assert.equal(AgentTask.parse(await next.ask("task", { task })).limits.toolCalls, 400);
  });
});

Deno.test("a task whose question was answered when the kernel died goes on, and asks anew", async () => {
  await inHome(async (home) => {
    await makeDesk(home.desk);
    const doomed = await home.start({ failpoint: { at: "afterAnswer" } });
    const task = await doomed.run({ scenario: EDITS, onQuestion: "queue" });
    const following = await doomed.follow(task, { answer: "leave" });
    assert.equal((await following.end).status, "needsApproval");
    const [question] = await doomed.questions(task);
    assert.ok(question);
    await assert.rejects(doomed.answer(question, "allow"));
    assert.equal((await doomed.dies()).signal, "SIGKILL");

    const next = await home.start();
    const after = await next.follow(task, { answer: "allow" });
    assert.deepEqual(await after.end, { status: "done", exit: 0 });
    const asked = after.told.filter(({ event }) => event === "questionAsked");
    assert.equal(asked.length, 2, "the answer of a kernel that ended has lapsed");
    await isAfter(home.desk);
  });
});

Deno.test("a question that waits is not answered by a restart", async () => {
  await inHome(async (home) => {
    await makeDesk(home.desk);
    const kernel = await home.start();
    const task = await kernel.run({ scenario: EDITS, onQuestion: "queue" });
    await (await kernel.follow(task, { answer: "leave" })).end;
    const [before] = await kernel.questions(task);
    await kernel.kill();
    const next = await home.start();
    assert.deepEqual(await next.questions(task), [before]);
    assert.equal(await statusOf(next, task), "needsApproval");
    assert.deepEqual(await next.ask("ps", null), [], "nothing runs for it");
    await isBefore(home.desk);
  });
});

const TALK = `
scenario: talk
turns:
  - { when: { message: 1 }, say: Hello. }
  - when: { message: 2, step: 1 }
    calls: [{ tool: file_write, args: { path: desk/b.md, content: "fresh" } }]
  - { when: { message: 2 }, say: Written. }
`;

Deno.test("an interactive turn that was cut off goes on; one that was over waits for the next word", async () => {
  await inHome(async (home) => {
    const first = await home.start();
    const task = await first.run({ scenario: TALK, interactive: true });
    const hello = await first.follow(task, { answer: "allow" });
    await hello.first(({ event, private: secret }) =>
      event === "taskStatus" && secret?.["answer"] === "Hello."
    );
    await first.kill();

    const second = await home.start({ failpoint: { at: "afterOutcome" } });
    assert.deepEqual(await second.ask("ps", null), [], "a session that waits is no work");
    await second.ask("say", { task, text: "write it" });
    assert.equal((await second.dies()).signal, "SIGKILL");

    const third = await home.start();
    const written = await third.follow(task, { answer: "allow" });
    await written.first(({ event, body, private: secret }) =>
      event === "taskStatus" && body["status"] === "open" && secret?.["answer"] === "Written."
    );
    assert.equal(await statusOf(third, task), "open");
    assert.deepEqual(await filesOf(home.desk), { "b.md": "fresh" });
  });
});
