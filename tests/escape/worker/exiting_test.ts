import assert from "node:assert/strict";
import { assertThrownOut, attack } from "../_beside.ts";

Deno.test("mallory's worker that exits with 0 would have passed for a task that is done", async () => {
  await attack(`Deno.exit(0);`, async (left) => {
    assert.match(await assertThrownOut(left), /the worker ended \(exit code 0\)/);
  });
});
