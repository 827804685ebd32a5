import { assertThrownOut, attack } from "../_beside.ts";

Deno.test("mallory's two requests under one id would have taken one answer for the other", async () => {
  await attack(
    `const two = [7_001, "wait", { cap: 1, pid: 2 }]; raw((JSON.stringify(two) + "\\n").repeat(2)); for (;;);`,
    async (left) => {
      await assertThrownOut(left);
    },
  );
});
