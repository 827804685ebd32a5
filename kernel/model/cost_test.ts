import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { DEAREST, type Price } from "../../contracts/mod.ts";
import { makeModelCost, priceOf, USUAL_OUTPUT } from "./cost.ts";
import { planModel } from "./model_plan.ts";

const PLANS = { weights: "/weights", addon: "/addon", secret: () => undefined };

/** The price of a model as its configuration says it. */
function configured(url: string, more: object = {}, kind = "openai"): Price | undefined {
  const config = JSON.stringify({ model: "m", url, ...more });
  return priceOf(planModel({ ref: `${kind}:m`, config }, PLANS));
}

Deno.test("a provider costs what the operator wrote, and without a price as the dearest", () => {
  const price = { input: 3, output: 15 };
  deepEqual(configured("https://api.example.com/v1", { price }), price);
  deepEqual(configured("https://api.example.com/v1"), DEAREST);
  deepEqual(configured("http://192.168.1.5:11434", {}, "ollama"), DEAREST);
  deepEqual(configured("https://api.example.com/v1", {}, "openai-embed"), DEAREST);
  deepEqual(configured("https://api.example.com", { price: { input: 0, output: 0 } }), {
    input: 0,
    output: 0,
  });
});

Deno.test("what stays on this machine is free: a server on loopback, a replay, local weights", () => {
  for (const url of ["http://127.0.0.1:8080/v1", "http://localhost:11434", "http://[::1]:1/v1"]) {
    equal(configured(url), undefined, url);
  }
  equal(configured("https://api.example.com/v1", { replay: "{}" }), undefined);
  for (
    const url of [
      "http://127.0.0.1.example.com/",
      "http://localhost.example.com/",
      "http://0.0.0.0/",
    ]
  ) {
    deepEqual(configured(url), DEAREST, url);
  }
});

Deno.test("input and output are paid by the million tokens", () => {
  const cost = makeModelCost({ input: 3, output: 15 });
  equal(cost.ofInput(1_000_000), 3);
  equal(cost.of({ inputTokens: 1_000_000, outputTokens: 1_000_000 }), 18);
  equal(cost.likely(0, 100_000), USUAL_OUTPUT * 15 / 1e6);
  equal(cost.likely(0, 10), 10 * 15 / 1e6);
  const free = makeModelCost(undefined);
  equal(free.of({ inputTokens: 1e9, outputTokens: 1e9 }), 0);
  equal(free.mostOutput(1e9, { maxTokens: 77, money: 0 }), 77);
});

Deno.test("mallory's server, which says nothing of usage, would have been free for ever", () => {
  const estimate = { inputTokens: 1_000, outputTokens: 50 };
  const silent = { inputTokens: 0, outputTokens: 0 };
  const cost = makeModelCost(DEAREST);
  deepEqual(cost.counted(silent, estimate), estimate);
  ok(cost.of(cost.counted(silent, estimate)) > 0);
  deepEqual(cost.counted({ inputTokens: 7, outputTokens: 0 }, estimate), {
    inputTokens: 7,
    outputTokens: 50,
  });
  deepEqual(makeModelCost(undefined).counted(silent, estimate), silent);
});

Deno.test("an answer as long as was allowed never costs more than the money that was left", () => {
  const dollars = fc.double({ min: 0, max: 1_000, noNaN: true });
  fc.assert(
    fc.property(
      fc.record({ input: dollars, output: dollars }),
      fc.nat(1_000_000),
      fc.integer({ min: 1, max: 1_000_000 }),
      dollars,
      (price, input, maxTokens, money) => {
        const cost = makeModelCost(price);
        const output = cost.mostOutput(input, { maxTokens, money });
        ok(output >= 1 && output <= maxTokens && Number.isInteger(output));
        const paid = cost.of({ inputTokens: input, outputTokens: output });
        // What the input alone costs is refused elsewhere; an answer adds nothing that is not there.
        const most = Math.max(money, cost.ofInput(input));
        ok(paid <= most * (1 + 1e-9) + 2e-9 || output === 1);
        if (output < maxTokens && output > 1) {
          const more = cost.of({ inputTokens: input, outputTokens: output + 1 });
          ok(more >= money * (1 - 1e-9) - 1e-9, "no more is withheld than must be");
        }
        ok(cost.ofInput(input) <= cost.likely(input, maxTokens));
      },
    ),
  );
});

Deno.test("Anthropic's prompt cache costs what Anthropic takes, another provider's what the operator wrote", () => {
  const price = { input: 3, output: 15 };
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 0,
    cacheReadTokens: 600_000,
    cacheWriteTokens: 200_000,
  };
  const of = (price: Price | undefined): number =>
    Math.round(makeModelCost(price).of(usage) * 1e6) / 1e6;
  const anthropic = configured("https://api.example.com", { price }, "anthropic");
  equal(of(anthropic), 0.2 * 3 + 0.6 * 0.3 + 0.2 * 3.75);
  equal(of(configured("https://api.example.com", { price })), 3);
  const told = { ...price, cacheRead: 1.5 };
  equal(of(configured("https://api.example.com", { price: told })), 0.4 * 3 + 0.6 * 1.5);
  equal(of(configured("https://api.example.com", { price: told }, "anthropic")), 0.6 + 0.9 + 0.75);
  equal(of(configured("https://api.example.com", {}, "anthropic")), 6 + 1.8 + 7.5);
  equal(of(configured("http://127.0.0.1:1/", { price }, "anthropic")), 0);
  // Before it is asked all of it may be kept anew.
  equal(makeModelCost(anthropic).ofInput(1_000_000), 3.75);
  equal(makeModelCost({ ...price, cacheRead: 0.3 }).ofInput(1_000_000), 3);
});

Deno.test("mallory's server counts more from the cache than there was at all: it costs no less than all of it from there", () => {
  const tokens = fc.integer({ min: 0, max: 1e9 });
  const usages = fc.record({
    ...{ inputTokens: tokens, outputTokens: tokens },
    ...{ cacheReadTokens: tokens, cacheWriteTokens: tokens },
  });
  const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  fc.assert(fc.property(usages, (usage) => {
    const { inputTokens, outputTokens } = usage;
    const cost = makeModelCost(price).of(usage);
    const rest = outputTokens * price.output;
    ok(cost >= (inputTokens * price.cacheRead + rest) / 1e6 - 1e-6);
    ok(cost <= (inputTokens * price.cacheWrite + rest) / 1e6 + 1e-6);
  }));
});
