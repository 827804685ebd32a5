import assert from "node:assert/strict";
import { besiege } from "../fake/siege.ts";
import { CALL } from "./_desk.ts";

Deno.test("mallory's worker that does not hear SIGXCPU would have gone on for ever after its budget", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({
      limits: { toolCalls: 2 },
      program: `({ async turn(ports) { ${CALL}
        for (let n = 0;; n++) await call("r" + n, "file_list", {}).catch(() => {});
      } })`,
    });
    const { status, exit } = await task.end;
    assert.deepEqual({ status, exit }, { status: "failed", exit: 66 });
    assert.match(String((await task.task())["reason"]), /toolCalls/);
    assert.equal(task.events.filter(({ event }) => event === "intent").length, 2);
  });
});
