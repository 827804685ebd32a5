/** kill -9 of the kernel at each point of a delivery: a message is shown to its task exactly once. */
import assert from "node:assert/strict";
import type { TaskId } from "../../contracts/authority/mod.ts";
import type { Json } from "../../contracts/base/mod.ts";
import type { FailPoint } from "../../contracts/task/mod.ts";
import type { Following, Told } from "../fake/following.ts";
import { inHome, type LiveKernel } from "../fake/kernel.ts";

const SCENARIO = `
scenario: lantern
turns:
  - say: What shall I do?
  - calls: [{ tool: scratch_write, args: { path: scratch/note.txt, content: "seen" } }]
  - say: I have read it.
  - say: And again.
`;

const MESSAGE = {
  id: "order-17",
  sender: "webhook:shop",
  kind: "resourceEvent",
  body: "THE-LANTERN-IS-SOLD",
  artifactRefs: [],
  requestedActions: [],
  requestedAuthority: [],
};

const stampOf = (task: TaskId) => ({ box: `task:${task}`, colour: "RED", label: "public" });

/** The turn is over, after the `n`-th event. */
const rests = (n: number) => ({ event, body, n: at, private: secret }: Told): boolean =>
  at > n && event === "taskStatus" && body["status"] === "open" && secret?.["answer"] !== undefined;

async function restless(following: Following, n = -1): Promise<Told> {
  return await following.first(rests(n));
}

/** What is told of an entry, and of the conversation that it came into. */
async function lookAt(kernel: LiveKernel, task: TaskId): Promise<{
  readonly entries: readonly { readonly id: string; readonly state: string }[];
  readonly deliveries: readonly Told[];
  readonly shown: number;
}> {
  const entries = await kernel.ask("inbox", {}) as { id: string; state: string }[];
  const following = await kernel.follow(task, { answer: "leave" });
  const last = await restless(following, 5);
  assert.ok(last);
  const conversation = await kernel.ask("conversation", { conversation: task, from: 0 });
  const messages = (conversation as { messages: { content: string }[] }).messages;
  return {
    entries,
    deliveries: following.told.filter(({ body }) => body["inbox"] !== undefined),
    shown: messages.filter(({ content }) => content.includes(MESSAGE.body)).length,
  };
}

const POINTS = ["beforeDelivery", "afterDelivery"] as const satisfies readonly FailPoint[];

for (const at of POINTS) {
  Deno.test(`a message is shown exactly once when the kernel is killed at ${at}`, async () => {
    await inHome(async (home) => {
      const doomed = await home.start({ failpoint: { at } });
      const task = await doomed.run({ scenario: SCENARIO, interactive: true });
      await restless(await doomed.follow(task, { answer: "leave" }));
      // The sender may not hear that it was taken, and sends it again.
      doomed.ask("inboxPut", { message: MESSAGE, stamp: stampOf(task) }).catch(() => undefined);
      assert.equal((await doomed.dies()).signal, "SIGKILL");

      const next = await home.start();
      const again = await next.ask("inboxPut", { message: MESSAGE, stamp: stampOf(task) });
      assert.equal((again as { duplicate: Json }).duplicate, true);
      const following = await next.follow(task, { answer: "leave" });
      const delivered = await following.first(({ body }) => body["inbox"] !== undefined);
      await restless(following, delivered.n);
      const { entries, deliveries, shown } = await lookAt(next, task);
      assert.deepEqual(entries.map(({ state }) => state), ["delivered"]);
      assert.deepEqual([deliveries.length, shown], [1, 1]);
      assert.deepEqual(deliveries[0]?.body["inbox"], entries.map(({ id }) => id));
      // The task knows what it read, also in a kernel that read it from the log.
      const { colour } = await next.ask("task", { task }) as { colour: Json };
      assert.equal(colour, "RED");
      await next.stop();

      const third = await home.start();
      assert.deepEqual((await lookAt(third, task)).deliveries.length, 1);
      assert.deepEqual((await third.ask("auditVerify", {}) as { ok: Json }).ok, true);
      await third.stop();
    });
  });
}
