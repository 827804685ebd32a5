import assert from "node:assert/strict";
import { assertThrownOut, attack } from "../_beside.ts";

Deno.test("mallory's frame nested 10,000 deep would have overflowed the kernel's stack", async () => {
  await attack(
    `raw('[1,"call",' + "[".repeat(10_000) + "]".repeat(10_000) + "]\\n"); for (;;);`,
    async (left) => assert.match(await assertThrownOut(left), /deep/),
  );
});
