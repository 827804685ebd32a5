import { assertThrownOut, attack } from "../_beside.ts";

Deno.test("mallory's frame with a key twice would have shown one value to the check and another to the use", async () => {
  await attack(
    `raw('[1,"kill",{"cap":1,"pid":2,"signal":"SIGKILL","pid":3}]\\n'); for (;;);`,
    async (left) => {
      await assertThrownOut(left);
    },
  );
});
