import { equal, ok } from "node:assert/strict";
import { CONSISTENT, CONTRADICTIONS, type Pair } from "../_fixture/contradictions.ts";
import { type Clash, clashOf, factOf } from "./mod.ts";

function clash({ a, b }: Pair): Clash | undefined {
  const [one, other] = [factOf(a), factOf(b)];
  return one === undefined || other === undefined ? undefined : clashOf(one, other);
}

Deno.test("rules for contradictions are precise on pairs that were sorted by hand, and find most of them", () => {
  ok(CONTRADICTIONS.length >= 30 && CONSISTENT.length >= 60);
  const missed = CONTRADICTIONS.filter((pair) => clash(pair) === undefined);
  const wrong = CONSISTENT.filter((pair) => clash(pair) !== undefined);
  const found = CONTRADICTIONS.length - missed.length;
  const precision = found / (found + wrong.length);
  const recall = found / CONTRADICTIONS.length;
  const told = JSON.stringify({ precision, recall, wrong, missed }, undefined, 1);
  ok(precision > 0.95, told);
  ok(recall >= 0.8, told);
});

Deno.test("what two claims say is the same in either order", () => {
  for (const pair of [...CONTRADICTIONS, ...CONSISTENT]) {
    equal(clash(pair), clash({ a: pair.b, b: pair.a }), `${pair.a} / ${pair.b}`);
  }
});

Deno.test("a number that a claim calls approximate contradicts no number near it", () => {
  for (const word of ["around", "about", "roughly", "approximately", "nearly"]) {
    const a = `A build takes ${word} 30 minutes.`;
    equal(clash({ a, b: "A build takes 32 minutes." }), undefined, a);
    equal(clash({ a, b: "A build takes 90 minutes." }), "number", a);
  }
});
