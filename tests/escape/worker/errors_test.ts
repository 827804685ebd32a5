import assert from "node:assert/strict";
import { assertThrownOut, attack } from "../_beside.ts";

Deno.test("mallory's standard error would have filled the kernel's log and memory", async () => {
  await attack(
    `const bytes = new Uint8Array(65_536).fill(65);
     for (let i = 0; i < 2_000; i++) Deno.stderr.writeSync(bytes);
     Deno.exit(1);`,
    async (left) => {
      assert.ok((await assertThrownOut(left)).length < 1_000);
      assert.ok((await Deno.stat(`${left.siege.config.dir}/log`)).size < 65_536);
      assert.ok(left.peak - left.before < 64 * 1024, `${left.peak - left.before} KiB more`);
    },
  );
});
