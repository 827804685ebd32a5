import assert from "node:assert/strict";
import { SERVE_PORT_LIMITS, toJson } from "../../../contracts/mod.ts";
import { fitting } from "./fitting.ts";

const exchange = (history: number, artifacts: number) => ({
  ...{ id: "x", state: "completed", history: ["h".repeat(history)] },
  artifacts: ["\u{20ac}".repeat(artifacts)],
});

Deno.test("an exchange goes whole, and past the bound first its history stays behind, then its artifacts", () => {
  const small = exchange(10, 10);
  assert.deepEqual(fitting(toJson(small)), small);
  assert.deepEqual(fitting(toJson(exchange(4_000_000, 10))), { ...exchange(0, 10), history: [] });
  const huge = fitting(toJson(exchange(4_000_000, 4_000_000)));
  assert.deepEqual(huge, { id: "x", state: "completed", history: [], artifacts: [] });
});

Deno.test("what fits is less than a frame of the gateway's pipe, whatever its characters are", () => {
  const most = JSON.stringify(fitting(toJson(exchange(10, 3_499_000))));
  assert.ok(most.length > 3_000_000);
  const { frameBytes = 0 } = SERVE_PORT_LIMITS;
  assert.ok(new TextEncoder().encode(most).length < frameBytes);
});
