/** SIGCAPDROP: a process is told when what it was lent is gone, by a person's word or by the clock. */
import assert from "node:assert/strict";
import { besiege, type Siege, type Watched } from "../fake/siege.ts";
import { CALL } from "./_desk.ts";

/** Waits for the signal, and then tries what it could do before. */
const DROPPED = `({ async turn(ports) {
  ${CALL}
  const dropped = new Promise((resolve) => ports.listen({ signal: resolve }));
  const before = await call("a", "file_read", { path: "desk/notes/plan.md" });
  await call("b", "scratch_write", { path: "scratch/ready", content: "yes" });
  const signal = await dropped;
  const after = await call("c", "file_read", { path: "desk/notes/plan.md" });
  return { stop: "answered", text: JSON.stringify([before.outcome, signal, after.outcome, after.error ?? ""]) };
} })`;

async function leaseOf(siege: Siege, task: Watched): Promise<string> {
  const leases = await siege.ask("leases", { task: task.id }) as {
    id: string;
    scope: { resource: string; right: string };
  }[];
  const lease = leases.find(({ scope }) => scope.resource === "mount" && scope.right === "read");
  return String(lease?.id);
}

Deno.test("a process whose lease is taken back hears of it, and degrades: it goes on without", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({ program: DROPPED });
    await task.first(({ event, body }) => event === "outcome" && body["tool"] === "scratch_write");
    await siege.ask("revoke", { lease: await leaseOf(siege, task) });
    assert.deepEqual(await task.end, { status: "done", exit: 0, task: task.id });
    const [before, signal, after, error] = JSON.parse(String((await task.task())["answer"]));
    assert.deepEqual([before, signal, after], ["ok", "SIGCAPDROP", "refusedByPolicy"]);
    assert.match(error, /lease/);
    const told = task.events.filter(({ event }) => event === "signalled");
    assert.deepEqual(told.map(({ body }) => body["signal"]), ["SIGCAPDROP"]);
  });
});

const TALK = `
scenario: talk
turns:
  - when: { step: 1 }
    calls: [{ tool: file_read, args: { path: desk/notes/plan.md } }]
  - when: { step: 2 }
    say: '{{ tool.file_read | line 1 }}'
`;
/** Long for a turn that reads one file, also on a busy machine. */
const TURN_MS = 30_000;

Deno.test("carol thinks for longer than a turn may take: what her session was lent runs out, and her next words lend it anew", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({
      ...{ scenario: TALK, interactive: true, limits: { wallClockMs: TURN_MS } },
    });
    const answered = (nth: number): Promise<unknown> => {
      let seen = 0;
      return task.first(({ event, private: secret }) =>
        event === "taskStatus" && secret["answer"] === "call the supplier" && ++seen === nth
      );
    };
    await answered(1);
    const { at } = await task.first(({ event, body }) =>
      event === "signalled" && body["signal"] === "SIGCAPDROP"
    ) as unknown as { readonly at: number };
    const begun = (await siege.ask("task", { task: task.id }) as { createdAt: number }).createdAt;
    assert.ok(at - begun >= TURN_MS, "not before a turn's time was over");
    assert.equal((await task.task())["status"], "open", "she may go on");
    await siege.ask("say", { task: task.id, text: "again" });
    await answered(2);
    assert.equal((await task.task())["status"], "open");
  });
});
