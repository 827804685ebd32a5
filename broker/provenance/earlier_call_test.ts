import { deepEqual, equal } from "node:assert/strict";
import { TaskId } from "../../contracts/authority/mod.ts";
import { EarlierCall } from "../../contracts/authority/origin.ts";
import { makeWorld } from "../_fixture/world.ts";
import { earlierCall } from "./earlier_call.ts";

const task = TaskId.parse("t000000000001");
const before = (args: unknown, now: unknown) =>
  EarlierCall.parse(
    earlierCall(JSON.stringify(now), { task, at: 5, argumentsText: JSON.stringify(args) }),
  );

Deno.test("what differs from the last call is told value by value, a text is no number, and what came or went is said", () => {
  deepEqual(before({ to: "UK1", amount: 5, cc: ["a"] }, { to: "US9", amount: "5", note: "x" }), {
    ...{ task, at: 5, more: 0 },
    differs: [
      { at: "to", was: '"UK1"', now: '"US9"' },
      { at: "amount", was: "5", now: '"5"' },
      { at: "note", now: '"x"' },
      { at: "cc.0", was: '"a"' },
    ],
  });
  deepEqual(before({ b: 1, a: [{}] }, { a: [{}], b: 1 }).differs, []);
});

Deno.test("long values are shown from a little before they part, and many are counted", () => {
  const same = "x".repeat(400);
  const [differs] = before({ text: `${same}one` }, { text: `${same}two` }).differs;
  deepEqual(differs, { at: "text", was: `…${"x".repeat(12)}one"`, now: `…${"x".repeat(12)}two"` });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, n]));
  const { differs: told, more } = before({}, many);
  equal(told.length, 16);
  // The empty object that was there differs as well.
  equal(more, 85);
});

Deno.test("a question tells the last call and the description that was reviewed; a first call is told as one", async () => {
  const tool = { name: "mcp_bank_pay", effect: "outboundWrite", interfaceId: "mcp:bank" } as const;
  for (
    const past of [
      undefined,
      { task, at: 7, argumentsText: '{"to":"UK1"}' },
      // Kept in the log by a version that did not know such keys.
      { task, at: 7, argumentsText: JSON.stringify({ to: `ghp_${"a1".repeat(18)}` }) },
    ]
  ) {
    const asked: unknown[] = [];
    const world = await makeWorld({
      earlier: ({ principal }, call) => {
        asked.push([principal, call.tool]);
        return Promise.resolve(past);
      },
    });
    const description = `Pays. ${"y".repeat(400)}`;
    world.add({
      ...{ ...tool, description },
      resolve: () => ({ destination: "mcp:bank", clearance: "internal" }),
    });
    const binding = world.tools.get(tool.name);
    if (binding !== undefined) world.tools.set(tool.name, { ...binding, granted: true });
    const called = world.call(tool.name, { to: "US9" });
    const { earlier, described } = await world.openQuestion();
    await world.answer({ decision: "deny" });
    await called;
    deepEqual(asked, [[world.alice.principal, tool.name]]);
    equal(described, `${description.slice(0, 299)}…`);
    const was = past?.argumentsText.includes("UK1") === true
      ? '"UK1"'
      : '"⟨redacted: GitHub token⟩"';
    const differs = [{ at: "to", was, now: '"US9"' }];
    deepEqual(earlier, past === undefined ? null : { task, at: 7, differs, more: 0 });
  }
});
