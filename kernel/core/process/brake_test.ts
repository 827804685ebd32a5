import { equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { DEAREST } from "../../../contracts/model/mod.ts";
import { makeModelCost } from "../../power/model/money.ts";
import { makePurse } from "./brake.ts";

const LIMITS = { moneyPerMinute: 0.5 };

Deno.test("what was paid within a minute counts, and no longer", () => {
  let now = 0;
  const purse = makePurse({ now: () => now });
  purse.paid(0.5);
  ok(!purse.isSpentTooFast(LIMITS));
  purse.paid(0.01);
  ok(purse.isSpentTooFast(LIMITS));
  now = 60_000;
  ok(!purse.isSpentTooFast(LIMITS));
});

Deno.test("mallory's eight children would have begun eight dear requests before the first was paid", () => {
  const purse = makePurse({ now: () => 0 });
  // No price in remit.yaml: the dearest reaches the brake.
  const each = makeModelCost(DEAREST).likely(2_000, 8_192);
  let begun = 0;
  for (let child = 0; child < 8; child++) {
    if (purse.begin(each, LIMITS) !== undefined) begun += 1;
  }
  equal(begun, Math.floor(LIMITS.moneyPerMinute / each) + 1);
  ok(begun < 8);
});

Deno.test("a request under way counts once: as what it may cost, then as what it did, then not", () => {
  let now = 0;
  const purse = makePurse({ now: () => now });
  const over = purse.pending(0.4);
  purse.paid(0.2);
  ok(purse.isSpentTooFast(LIMITS));
  over();
  over();
  ok(!purse.isSpentTooFast(LIMITS));
  purse.paid(0.4);
  ok(purse.isSpentTooFast(LIMITS));
  purse.forgive();
  ok(!purse.isSpentTooFast(LIMITS));
  purse.pending(9);
  purse.forgive();
  now = 1;
  ok(!purse.isSpentTooFast(LIMITS), "a person let go on what was under way");
});

Deno.test("a request that is under way is never forgotten because others end", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }), (all) => {
      const purse = makePurse({ now: () => 0 });
      const ends = all.map((money) => purse.pending(money));
      let left = [...all];
      for (const end of ends) {
        const sum = left.reduce((total, money) => total + money, 0);
        if (Math.abs(sum - 0.5) > 1e-9) equal(purse.isSpentTooFast(LIMITS), sum > 0.5);
        end();
        left = left.slice(1);
      }
      ok(!purse.isSpentTooFast(LIMITS));
    }),
  );
});
