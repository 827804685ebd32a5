import assert from "node:assert/strict";
import { say } from "./_fixture/bench.ts";
import { estimateTokens, makeTokenRatio } from "../contracts/tokens.ts";
import { fullness, importantIn } from "./context.ts";

Deno.test("a window is full from 95 % on, and over past its end", () => {
  const messages = [say("user", "x".repeat(4 * 900 - 16))];
  assert.equal(estimateTokens(messages), 900);
  const ratio = makeTokenRatio();
  const at = (answer: number, tools = 0): string =>
    fullness(messages, { window: 1_000, tools, answer, ratio });
  assert.deepEqual([at(0), at(50), at(51), at(100), at(101), at(0, 51), at(50, 51)], [
    "room",
    "room",
    "full",
    "full",
    "over",
    "full",
    "over",
  ]);
  ratio.learn(900, 2_700);
  assert.deepEqual([at(0), at(100), at(101)], ["full", "full", "over"], "only room is made by it");
});

Deno.test("only the agent's own messages are marked, never what somebody else wrote", () => {
  const mark = "[IMPORTANT] the gate code is 4711";
  const messages = [say("user", mark), say("assistant", mark), say("tool", mark)];
  assert.deepEqual(importantIn(messages), [1]);
});
