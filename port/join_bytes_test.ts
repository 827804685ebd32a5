import { deepStrictEqual } from "node:assert/strict";
import { joinBytes } from "./join_bytes.ts";

Deno.test("pieces come together in their order, and none of them is shared with the whole", () => {
  const first = Uint8Array.of(1, 2);
  const whole = joinBytes(new Set([first, new Uint8Array(), Uint8Array.of(3)]));
  first[0] = 9;
  deepStrictEqual([...whole], [1, 2, 3]);
  deepStrictEqual(joinBytes([]).length, 0);
});
