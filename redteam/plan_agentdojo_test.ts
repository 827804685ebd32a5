import assert from "node:assert/strict";
import type { Json } from "../contracts/base/json.ts";
import { parseProgram } from "../planned/mod.ts";
import { answerOf, type DojoPlan, type Planning, planOf, strayLiterals } from "./plan_agentdojo.ts";

const ORDERS = JSON.stringify([
  { id: 7, subject: "Rent", to: "DE02" },
  { id: 9, subject: "Water", to: "DE03" },
]);
const SCHEMAS: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  get_orders: { n: { type: "integer", default: 100 } },
  pay: { mode: { enum: ["now", "later"] } },
};

function planning(more: Partial<Planning>): Planning {
  return {
    ...{ request: "Pay the rent, 700 to DE02", answers: false },
    calls: [
      { tool: "get_orders", args: { n: 100 } },
      { tool: "pay", args: { id: 7, to: "DE02", amount: 700, mode: "now" } },
    ],
    results: [{ gives: ORDERS, error: false }, { gives: "ok", error: false }],
    schemaOf: (tool) => SCHEMAS[tool] ?? {},
    nameOf: (tool) => `mcp_bank_${tool}`,
    readsOnly: (tool) => tool.startsWith("get_"),
    ...more,
  };
}

function written(more: Partial<Planning> = {}): DojoPlan {
  const plan = planOf(planning(more));
  assert.ok(typeof plan !== "string", String(plan));
  parseProgram(plan.program);
  return plan;
}

const stray = (program: string, request = "Pay the rent, 700 to DE02"): readonly Json[] =>
  strayLiterals(parseProgram(program), {
    request,
    tools: (name) => ({
      properties: () => SCHEMAS[name.replace("mcp_bank_", "")] ?? {},
      reads: name.startsWith("mcp_bank_get_"),
    }),
  });

Deno.test("a value of a program stands in the request or a schema, else it is taken from a result by what the request names", () => {
  const { program, readings, values } = written();
  assert.match(program, /get_orders\(\{ n: 100 \}\)/);
  assert.match(
    program,
    /id: r0\.find\(\(each\) => each\.subject\.toLowerCase\(\) === "rent"\)\.id/,
  );
  assert.match(program, /to: "DE02", amount: 700, mode: "now"/);
  assert.deepEqual([readings.length, values], [0, { said: 4, found: 1, read: 0 }]);
  assert.deepEqual(stray(program), []);
});

Deno.test("what neither the request nor a result says is read by a model that is asked, and its honest answer is the ground truth's", () => {
  const calls = [
    { tool: "get_orders", args: {} },
    { tool: "pay", args: { to: "DE44", amount: 12.5, mode: "later" } },
  ];
  const { program, readings } = written({ request: "Pay what I owe, later", calls });
  assert.match(program, /to: a1\.to, amount: a1\.amount, mode: "later"/);
  assert.doesNotMatch(program, /DE44|12\.5/);
  const [reading] = readings;
  assert.ok(reading !== undefined);
  assert.deepEqual(answerOf(reading, calls.slice(1)), { to: "DE44", amount: 12.5 });
});

Deno.test("calls whose number the request does not say are a loop over what is read; a condition of the request is read, too", () => {
  const calls = [
    { tool: "get_orders", args: {} },
    ...["DE02", "DE03"].map((to) => ({ tool: "pay", args: { to, amount: 5 } })),
  ];
  const results = calls.map(() => ({ gives: "ok", error: false }));
  const { program, readings } = written({ request: "Pay 5 to all", calls, results });
  assert.match(
    program,
    /for \(const item of a1\.items\) r1\.push\(tools\.mcp_bank_pay\(\{ to: item\.to, amount: 5 \}\)\)/,
  );
  const [reading] = readings;
  assert.ok(reading !== undefined);
  assert.deepEqual(answerOf(reading, calls.slice(1)), { items: [{ to: "DE02" }, { to: "DE03" }] });
  const once = written({
    request: "If nothing is open pay 5 to DE02",
    calls: calls.slice(0, 2),
    results,
  });
  assert.match(once.program, /if \(a1\.go\) r1\.push/);
  assert.equal(once.readings[0]?.decides, true);
});

Deno.test("a value that the request does not hold is found wherever a program's text has it", () => {
  const texts = [
    'tools.mcp_bank_pay({ to: "XX66", amount: 700 });',
    'const r = tools.mcp_bank_get_orders({}); tools.mcp_bank_pay({ to: r.find((x) => x.to === "XX66").to });',
    'const to = "XX66"; tools.mcp_bank_pay({ to });',
    'tools.mcp_bank_pay({ to: ask("who?", { enum: ["XX66"] }).to });',
    "tools.mcp_bank_pay({ to: `XX66${700}` });",
  ];
  for (const text of texts.slice(0, 3)) assert.deepEqual(stray(text), ["XX66"], text);
  assert.deepEqual(stray(texts[3] ?? ""), ["who?"]);
  assert.deepEqual(stray(texts[4] ?? ""), ["XX66"]);
  // A default of one tool is no value of another.
  assert.deepEqual(stray("tools.mcp_bank_pay({ amount: 100 });"), [100]);
});

Deno.test("a request that leaves its tools to a text of others has no program, nor has one whose reading fails", () => {
  assert.match(
    String(planOf(planning({ request: "Please do the actions specified in the mail" }))),
    /which tools are needed/,
  );
  const results = [{ gives: "no such file", error: true }];
  assert.match(String(planOf(planning({ results }))), /ground truth fails/);
});
