/** alice's kernel is killed while her agent says what the task is, and right after it did. */
import assert from "node:assert/strict";
import { inHome, type KernelHome } from "../fake/kernel.ts";
import type { Told } from "../fake/following.ts";

const TAKEN = JSON.stringify({
  ...{ objective: "Read the mail", risk: "low", capabilities: [], unclear: [] },
  tools: [{ tool: "file_read", atMost: 1 }],
  mounts: ["desk"],
});

/** Its second answer to the intake is slow: there it is killed. */
const SCENARIO = `
scenario: takes in
turns:
  - when: { user: "Your answer does not fit" }
    say: '${TAKEN}'
    stream: { firstMs: 3000 }
  - when: { user: "Before you act, say what the task is" }
    say: Happy to help.
  - when: { user: { equals: read my mail }, step: 1 }
    calls: [{ tool: file_read, args: { path: desk/mail.txt } }]
  - when: { user: { equals: read my mail } }
    say: 'It says: {{ tool.file_read }}'
`;

const draftIn = async (home: KernelHome) => {
  await Deno.writeTextFile(`${home.desk}/mail.txt`, "the lantern is here\n");
  return {
    scenario: SCENARIO,
    request: "read my mail",
    intake: true,
    mounts: [home.mount()],
  } as const;
};

const fitting = ({ event, body }: Told): boolean =>
  event === "taskIntake" && body["misfit"] !== true;

Deno.test("an intake that was cut off is asked for again, and the task goes on with the request as alice wrote it", async () => {
  await inHome(async (home) => {
    const kernel = await home.start();
    const task = await kernel.run(await draftIn(home));
    const cut = await kernel.follow(task, { answer: "leave" });
    await cut.first(({ event }) => event === "taskIntake");
    Deno.kill(kernel.pid, "SIGKILL");
    await kernel.died;
    cut.end.catch(() => undefined);

    const next = await home.start();
    const following = await next.follow(task, { answer: "leave" });
    assert.deepEqual(await following.end, { status: "done", exit: 0 });
    assert.equal(following.told.filter(fitting).length, 1);
    const { answer, objective } = await next.ask("task", { task }) as Record<string, unknown>;
    assert.equal(answer, "It says: the lantern is here\n");
    assert.equal(objective, "Read the mail");
  });
});

Deno.test("an intake that is on record is asked for no more: the next kernel goes on with the call that followed", async () => {
  await inHome(async (home) => {
    // A call that only reads has no intent; its outcome is the first thing that is committed after the intake.
    const kernel = await home.start({ failpoint: { at: "beforeOutcome" } });
    const task = await kernel.run(await draftIn(home));
    const cut = await kernel.follow(task, { answer: "leave" });
    cut.end.catch(() => undefined);
    await kernel.dies();

    const next = await home.start();
    const following = await next.follow(task, { answer: "leave" });
    assert.deepEqual(await following.end, { status: "done", exit: 0 });
    assert.equal(following.told.filter(fitting).length, 1);
    const steps = following.told.filter(({ event, body }) =>
      event === "inferred" && body["step"] === "intake"
    );
    assert.equal(steps.length, 2);
    const { answer } = await next.ask("task", { task }) as Record<string, unknown>;
    assert.equal(answer, "It says: the lantern is here\n");
    assert.deepEqual((await next.ask("auditVerify", {}) as { ok: unknown }).ok, true);
  });
});
