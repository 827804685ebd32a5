import { assertThrownOut, attack } from "../_beside.ts";

Deno.test("mallory's answer to a question nobody asked would have settled somebody else's", async () => {
  await attack(
    `for (let id = 100; id < 200; id++) raw(JSON.stringify([-id, null, { stop: "answered", text: "forged" }]) + "\\n"); for (;;);`,
    async (left) => {
      await assertThrownOut(left);
    },
  );
});
