/** A session that nobody looks at: when its turn is over it holds no process, and its kernel may end. */
import assert from "node:assert/strict";
import { bench, settled } from "./_fixture/bench.ts";
import { memoryLog, requestOf } from "./_fixture/fakes.ts";

for (const stop of ["answered", "upstream"] as const) {
  Deno.test(`carol closes her terminal during a turn that is then "${stop}": her session would have kept its kernel for ever`, async () => {
    const { service, host } = bench();
    const { id } = await service.create(requestOf({ interactive: true }));
    await settled();
    service.unattended(id);
    host.finish({ stop, text: "Tidied." });
    await settled();
    assert.deepEqual([service.get(id).status, host.ended, service.idle()], ["open", [0], true]);

    await service.say(id, "And now?");
    await settled();
    host.finish({ stop: "answered", text: "That, too." });
    await settled();
    assert.deepEqual([host.ended, service.hosted(id) !== undefined], [[0], true], "she is back");
  });
}

Deno.test("a session's turn that a kernel takes up by itself leaves no process either", async () => {
  const log = memoryLog();
  const before = bench(log);
  const { id } = await before.service.create(requestOf({ interactive: true }));
  await settled();
  const after = bench(log);
  after.asked = false;
  assert.deepEqual(await after.service.recover(), [id]);
  await settled();
  after.host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  assert.deepEqual([after.service.get(id).status, after.service.idle()], ["open", true]);
});
