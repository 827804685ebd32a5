/** What must hold after every crash. */
import assert from "node:assert/strict";
import { type Following, lasting } from "../fake/following.ts";
import type { LiveKernel } from "../fake/kernel.ts";

/** Everything that a client was told is in the log, the log verifies, and it reaches a head seen before. */
export async function nothingLost(
  kernel: LiveKernel,
  before: Pick<Following, "task" | "told" | "answered">,
  head: string,
): Promise<void> {
  const now = await kernel.follow(before.task, { answer: "leave" });
  for (const event of before.told) {
    const kept = now.told.find(({ n }) => n === event.n);
    assert.ok(kept, `event ${event.n} (${event.event}) is lost`);
    assert.deepEqual(lasting(kept), lasting(event), "an event is what it was told to be");
  }
  for (const question of before.answered) {
    const kept = now.told.some(({ event, body }) =>
      event === "questionAnswered" && body["question"] === question && body["decision"] === "allow"
    );
    assert.ok(kept, `the answer to ${question} is lost`);
  }
  now.close();
  await verifies(kernel, head);
}

/** The whole log verifies and goes on from a head that was seen before. */
export async function verifies(kernel: LiveKernel, head: string): Promise<void> {
  const known = /^0+$/.test(head) ? {} : { head };
  const report = await kernel.ask("auditVerify", known) as { ok?: boolean };
  assert.equal(report.ok, true, JSON.stringify(report));
}
