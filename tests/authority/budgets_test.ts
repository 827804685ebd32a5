import assert from "node:assert/strict";
import { besiege, type Draft } from "../fake/siege.ts";

const READ = "{ tool: file_read, args: { path: desk/notes/plan.md } }";
const LOOP = `
  - say: Again.
    calls: [${READ}]
    loop: true`;
const WRITE_LOOP = `
  - calls: [{ tool: scratch_write, args: { path: scratch/a, content: "${
  "x".repeat(400)
}", append: true } }]
    loop: true`;
const EDIT_LOOP = `
  - calls: [{ tool: file_edit, args: { path: desk/notes/plan.md, old: call, new: please call } }, { tool: patch_apply }]
    loop: true`;
const PRICED = `scenario: dear
model: { price: { input: 1000000, output: 1000000 } }
turns:
  - say: Again.
    calls: [${READ}]
    usage: { inputTokens: 10, outputTokens: 10 }
    loop: true
`;

/** What mallory's endless task runs into, and the limit that must be named. */
const CASES: Readonly<Record<string, readonly [limit: string, draft: Draft]>> = {
  "tool calls": ["toolCalls", { turns: LOOP, limits: { toolCalls: 3 } }],
  "calls of one effect": ["callsByEffect.stage", {
    ...{ turns: WRITE_LOOP, limits: { callsByEffect: { stage: 3 } } },
  }],
  "bytes of results": ["resultBytes", { turns: LOOP, limits: { resultBytes: 40 } }],
  "bytes written": ["writtenBytes", { turns: WRITE_LOOP, limits: { writtenBytes: 1_000 } }],
  "questions": ["questions", { turns: EDIT_LOOP, limits: { questions: 2 }, onQuestion: "ask" }],
  "input tokens": ["inputTokens", { turns: LOOP, limits: { inputTokens: 200 } }],
  "output tokens": ["outputTokens", { turns: LOOP, limits: { outputTokens: 60 } }],
  "tokens in all": ["totalTokens", { turns: LOOP, limits: { totalTokens: 300 } }],
  "money": ["money", { scenario: PRICED, limits: { money: 50, moneyPerMinute: 1_000 } }],
  "model turns": ["iterations", { turns: LOOP, limits: { iterations: 4 } }],
  "time": ["wallClock", { turns: "  - hang: true", limits: { wallClockMs: 300 } }],
};

for (const [what, [limit, draft]] of Object.entries(CASES)) {
  Deno.test(`mallory's task without an end would have used ${what} for ever, and bob's too`, async () => {
    await besiege(async (siege) => {
      const mallory = await siege.run(draft);
      if (draft.onQuestion === "ask") void allowAll(siege, mallory).catch(() => undefined);
      const bob = await siege.run({ turns: `  - calls: [${READ}]\n  - say: Well.` });
      const { status, exit } = await mallory.end;
      const { reason } = await mallory.task();
      assert.equal(exit, 66, `${status}: ${reason}`);
      assert.match(String(reason).replaceAll("-clock", "Clock"), new RegExp(limit), String(reason));
      assert.equal((await bob.end).exit, 0);
    });
  });
}

async function allowAll(
  siege: Parameters<Parameters<typeof besiege>[0]>[0],
  task: Awaited<ReturnType<typeof siege.run>>,
): Promise<void> {
  for (const seen = new Set<unknown>();;) {
    const { body } = await task.first(({ event, body }) =>
      event === "questionAsked" && !seen.has(body["question"])
    );
    seen.add(body["question"]);
    await siege.answer(String(body["question"]), "allow");
  }
}
