import assert from "node:assert/strict";
import { TaskId } from "../../contracts/authority/mod.ts";
import { fakeKernel } from "../_fixture/world.ts";
import { TASK, told } from "../_fixture/samples.ts";
import { watchTask } from "../run/watch_task.ts";

Deno.test("the end of a turn that a message began is not taken for the answer to the person's next words", async () => {
  const { link, kernel } = await fakeKernel({ watch: () => null, questions: () => [] });
  const seen: number[] = [];
  const watch = await watchTask(link, TaskId.parse(TASK), {
    from: 0,
    onSeen: (each) => each.kind === "event" && seen.push(each.event.n),
  });
  const ends = (n: number, answer: string): void =>
    kernel.tell(told(n, "taskStatus", { status: "open" }, { answer }));
  ends(1, "Hello.");
  await watch.next();
  ends(2, "I read the mail.");
  // The port hands frames over in turns of their own: what is asked on it comes after what was told.
  await link.ask("questions", {});
  watch.forget();
  const next = watch.next();
  ends(3, "To your words.");
  assert.equal((await next).status, "open");
  assert.deepEqual(seen, [1, 2, 3]);
  const early = await Promise.race([watch.next(), Promise.resolve("waits")]);
  assert.equal(early, "waits", "there was one end, not two");
  link.close();
});
