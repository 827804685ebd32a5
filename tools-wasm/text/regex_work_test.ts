import { ok, strictEqual } from "node:assert/strict";
import { compiledModule, runModule } from "../build/_fixture/run_module.ts";

const module = await compiledModule("tools-wasm/text", { entry: "_fixture/assembly/steps.ts" });

type Work = {
  readonly matches: boolean;
  readonly begins: number;
  readonly steps: number;
  readonly instructions: number;
};

async function work(query: string, text: string): Promise<Work> {
  const instance = await runModule(module, () => null);
  const { ok: done, value, error } = await instance.call("steps", { query, text });
  ok(done, `${query}: ${error?.message}`);
  return value;
}

/** Expressions on which engines that go back take time beyond any bound, and texts that lead them there. */
const BOMBS: readonly [query: string, text: (n: number) => string][] = [
  ["(a+)+$", (n) => `${"a".repeat(n)}!`],
  ["(a|a)*b", (n) => "a".repeat(n)],
  ["(a|aa)+$", (n) => `${"a".repeat(n)}!`],
  ["(.*)*x", (n) => "a".repeat(n)],
  ["(.*a){12}b", (n) => "a".repeat(n)],
  ["^(([a-z])+.)+[A-Z]([a-z])+$", (n) => "a".repeat(n)],
  ["(x+x+)+y", (n) => "x".repeat(n)],
  ["(a?){40}a{40}b", (n) => "a".repeat(n)],
  ["(a|b)*a(a|b){14}c", (n) => "abbab".repeat(n / 5)],
  ["\\b(\\w+\\s?)*$", (n) => `${"word ".repeat(n / 5)}!`],
  [".{0,300}x.{0,300}y", (n) => "xa".repeat(n / 2)],
];

Deno.test("twice the text is at most twice the work, for every bomb", async () => {
  for (const [query, text] of BOMBS) {
    const once = await work(query, text(2_000));
    const twice = await work(query, text(4_000));
    // What is remembered between bytes makes it less; nothing makes it more.
    ok(twice.steps <= 2.2 * once.steps + 1_000, `${query}: ${once.steps} → ${twice.steps}`);
  }
});

Deno.test("no byte costs more steps than the expression has, written out", async () => {
  for (const [query, text] of BOMBS) {
    const bytes = 3_000;
    const { steps, instructions } = await work(query, text(bytes));
    // Three sets are made for a byte, each with every instruction once at most: what waits, what is known of it, and
    // the search for the first place. When sets are forgotten, the first is made anew.
    ok(steps <= 4 * instructions * (bytes + 1), `${query}: ${steps} steps of ${instructions}`);
  }
});

Deno.test("remembered sets are forgotten when there are too many, and the answer stays right", async () => {
  // Each of 2^14 sets of threads is met: more than are remembered.
  let seed = 7;
  const letters = Array.from({ length: 60_000 }, () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed & 0x10000 ? "a" : "b";
  }).join("");
  const missing = await work("a(a|b){13}c", letters);
  strictEqual(missing.matches, false);
  const there = await work("a(a|b){13}c", `${letters}abbbbbbbbbbbbbc`);
  strictEqual(there.matches, true);
  strictEqual(there.begins, letters.length);
});
