import assert from "node:assert/strict";
import { widthOfCluster } from "./_piece.ts";

Deno.test("CJK and emoji take two columns, combining marks none", () => {
  for (
    const [sign, columns] of [["a", 1], ["é", 1], ["ｱ", 1], ["e\u0301", 1], ["\u0301", 0]] as const
  ) {
    assert.equal(widthOfCluster(sign), columns, sign);
  }
  for (const sign of ["漢", "か", "한", "👨‍👩‍👧", "❤️", "🇩🇪"]) {
    assert.equal(widthOfCluster(sign), 2, sign);
  }
});
