import assert from "node:assert/strict";
import { Plan } from "../../contracts/authority/plan.ts";
import { question } from "../_fixture/samples.ts";
import { columnsOf } from "../terminal/columns.ts";
import { makePaint } from "../terminal/paint.ts";
import { questionLines } from "./question_frame.ts";

const digest = "0".repeat(64);
const PROGRAM = "const mails = tools.mcp_bank_mails({});\n…";
const plan = Plan.parse({
  program: digest,
  sites: [
    {
      site: 1,
      tool: "mcp_bank_mails",
      descriptor: digest,
      atMost: 1,
      becomes: "covered",
      under: [],
      arguments: [],
    },
    {
      ...{
        site: 2,
        tool: "mcp_bank_send_money",
        descriptor: digest,
        atMost: 10,
        becomes: "covered",
        under: [1],
      },
      arguments: [
        { name: "to", origin: "request", value: '"GB29"' },
        { name: "amount", origin: "derived", from: [1] },
        { name: "subject", origin: "planner", value: '"hello\\u001b[2J"' },
        { name: "day", origin: "derived", from: [] },
      ],
    },
    {
      site: 3,
      tool: "mcp_bank_close",
      descriptor: digest,
      atMost: 1,
      becomes: "asks",
      under: [1, 2],
      arguments: [],
    },
  ],
});
const asked = question({
  ...{ plan, changes: [], sources: [], summary: "run a program that makes 3 calls" },
  scope: {
    ...question().scope,
    tool: "plan_run" as ReturnType<typeof question>["scope"]["tool"],
    effect: "read",
    colour: "BLUE",
  },
  argumentsText: JSON.stringify({ program: PROGRAM }),
});

Deno.test("a question about a program shows each call, how often, on what it depends, and where each value comes from", () => {
  const options = { width: 100, paint: makePaint(false), whole: false, request: "Pay GB29" };
  const lines = questionLines(asked, [], options);
  assert.deepEqual(lines.slice(1, 17), [
    "┃ run a program that makes 3 calls",
    "┃",
    "┃ tool        plan_run  (read)",
    "┃ you asked   Pay GB29",
    "┃ may call    this, and nothing else in this task:",
    "┃   │ 1  mcp_bank_mails  once; your yes answers it",
    "┃   │ 2  mcp_bank_send_money  at most 10 times, as call 1 says; your yes answers it",
    '┃   │      to: "GB29"  ← stands in your request',
    "┃   │      amount  ← from what call 1 brings",
    '┃   │      subject: "hello\\u001b[2J"  ← chosen by the agent before it read anything',
    "┃   │      day  ← computed by the program from its own text",
    "┃   │ 3  mcp_bank_close  once, as calls 1 and 2 say; asks each time",
    "┃ and         program, exactly this text",
    "┃   │ const mails = tools.mcp_bank_mails({});",
    "┃   │ …",
    "┃ has read    nothing untrusted",
  ]);
  for (const line of questionLines(asked, [], { ...options, width: 60 })) {
    assert.ok(columnsOf(line) <= 60, line);
  }
});
