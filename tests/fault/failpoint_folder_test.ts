/** kill -9 of the kernel at each point of a patch_apply: the folder gets the patch once. */
import assert from "node:assert/strict";
import type { FailPoint } from "../../contracts/task/mod.ts";
import { inHome } from "../fake/kernel.ts";
import { nothingLost } from "./nothing_lost.ts";
import { watchFolder } from "./folder_ledger.ts";
import { EDITS, edits, isAfter, makeDesk } from "./desk.ts";

/** Where the kernel ends, and which time there: the calls before the apply pass the same points. */
const POINTS: readonly (readonly [at: FailPoint, times: number])[] = [
  ["beforeIntent", 1],
  ["afterIntent", 1],
  ["beforeOutcome", edits + 1],
  ["afterOutcome", edits + 1],
  ["beforeAnswer", 1],
  ["afterAnswer", 1],
];

for (const [at, times] of POINTS) {
  Deno.test(`alice's patch reaches her folder exactly once when the kernel is killed at ${at}`, async () => {
    await inHome(async (home) => {
      await makeDesk(home.desk);
      const doomed = await home.start({ failpoint: { at, after: times } });
      const task = await doomed.run({ scenario: EDITS });
      const folder = await watchFolder(home.desk);
      const before = await doomed.follow(task, { answer: "allow" });
      assert.deepEqual(await doomed.dies(), { code: 137, signal: "SIGKILL" });

      const next = await home.start();
      const after = await next.follow(task, { answer: "allow" });
      assert.deepEqual(await after.end, { status: "done", exit: 0 });
      await isAfter(home.desk);
      for (const name of ["a.md", "b.md", "c.md"]) {
        assert.equal(await folder.effects(name), 1, `effects on ${name}`);
      }
      folder.close();
      await nothingLost(next, before, doomed.head);
    });
  });
}
