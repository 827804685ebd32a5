import assert from "node:assert/strict";
import type { Json } from "../../../contracts/base/mod.ts";
import { body, REPORT, rig } from "../_fixture/rig.ts";
import { runCommandLine } from "../../_fixture/world.ts";

Deno.test("watch takes a folder in at once and after each change, until Ctrl-C", async () => {
  const at = await rig({
    ops: {
      ingestFiles: (given) => ({ ...REPORT, added: (body(given)["files"] as Json[]).length }),
      ingestGone: () => ({ removed: [] }),
    },
  });
  at.work("docs/a.md");
  let press: (count: number) => void = () => undefined;
  const powers = {
    ...at.powers,
    interrupts: {
      listen(heard: (count: number) => void) {
        press = heard;
        return () => undefined;
      },
    },
    async *watch(): AsyncGenerator<void> {
      await Promise.resolve();
      at.work("docs/b.md");
      yield;
      press(1);
    },
  };
  assert.equal(await runCommandLine(["wiki", "watch", "docs"], powers), 0);
  assert.deepEqual(
    at.asked("ingestFiles").map((each) => (body(each)["files"] as Json[]).length),
    [1, 2],
  );
  assert.equal(await at.run("watch", "gone"), 2);
});
