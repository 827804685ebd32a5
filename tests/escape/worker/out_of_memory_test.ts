import assert from "node:assert/strict";
import { assertThrownOut, attack } from "../_beside.ts";

const BOMBS = {
  "its heap": `const all = []; for (;;) all.push(new Array(1e5).fill({}));`,
  "buffers outside its heap": `const all = []; for (;;) all.push(new Uint8Array(1 << 26).fill(1));`,
};
for (const [where, bomb] of Object.entries(BOMBS)) {
  Deno.test(`mallory's worker that fills ${where} would have taken the machine's memory`, async () => {
    await attack(bomb, async (left) => {
      assert.notEqual(await assertThrownOut(left), "");
    });
  });
}
