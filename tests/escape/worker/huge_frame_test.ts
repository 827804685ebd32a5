import assert from "node:assert/strict";
import { assertThrownOut, attack } from "../_beside.ts";

Deno.test("mallory's frame of 64 MB would have filled the kernel's memory", async () => {
  await attack(
    `raw('[1,"call","'); raw(new Uint8Array(64 << 20).fill(97)); raw('"]\\n'); for (;;);`,
    async (left) => {
      assert.match(await assertThrownOut(left), /frame|longer|large|bytes/i);
      assert.ok(left.peak - left.before < 48 * 1024, `${left.peak - left.before} KiB more`);
    },
  );
});
