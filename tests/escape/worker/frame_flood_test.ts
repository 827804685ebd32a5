import { assertThrownOut, attack } from "../_beside.ts";

Deno.test("mallory's flood of frames would have starved every other task", async () => {
  await attack(
    `const many = '[9,"advertise",{"cap":1}]\\n'.repeat(2_000); for (;;) raw(many);`,
    async (left) => {
      await assertThrownOut(left);
    },
  );
});
