import assert from "node:assert/strict";
import { assertThrownOut, attack } from "../_beside.ts";

Deno.test("mallory's worker that kills itself would have left its task open for ever", async () => {
  await attack(
    `(await import("node:process")).default.abort(); for (;;);`,
    async (left) => assert.match(await assertThrownOut(left), /the worker ended \(SIG/),
  );
});
