import assert from "node:assert/strict";
import type { ChatMessage } from "../../contracts/model/mod.ts";
import { valueIn } from "../../contracts/task/templates/templates.ts";
import { makePaint } from "../terminal/paint.ts";
import { columnsOf } from "../terminal/columns.ts";
import { pastLines } from "./go_on.ts";

const provenance: ChatMessage["provenance"] = {
  ...{ origin: "operator", colour: "BLUE", label: "internal" },
};
const message = (role: ChatMessage["role"], content: string): ChatMessage => ({
  ...{ role, content, provenance },
});
const shown = (messages: readonly ChatMessage[]) =>
  pastLines(messages, {
    width: 40,
    paint: makePaint(false),
    earlier: "remit conversation show t1",
  });

Deno.test("a conversation that is come back to shows its last turns, words and answers, and where the rest is", () => {
  const turns = Array.from({ length: 10 }, (_, n) => [
    message("user", `question ${n}`),
    message("assistant", `answer **${n}**`),
  ]).flat();
  const lines = shown(turns);
  assert.equal(lines[0], "  … 4 earlier messages: remit conversation show t1");
  assert.deepEqual(lines.slice(1, 5), ["", "› question 2", "", "answer 2"]);
  assert.equal(lines.at(-1), "answer 9");
});

Deno.test("mallory's words of yesterday move no cursor and are no wider than the screen today", () => {
  const lines = shown([
    message("user", `a\x1b[2J ${"word ".repeat(40)}`),
    message("assistant", `b\x1b[2J\u202e ${"word ".repeat(40)}`),
    message("tool", "\x1b]52;c;x\x07"),
  ]);
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(lines.join("\n"), /[\x00-\x09\x0b-\x1f\x7f\u202e]/);
  for (const line of lines) assert.ok(columnsOf(line) <= 40, line);
});

Deno.test("an answer's value is JSON alone, or in one block of code; words around it are none", () => {
  assert.deepEqual(valueIn('{"a":1}'), { a: 1 });
  assert.deepEqual(valueIn("```json\n[1]\n```\n"), [1]);
  assert.deepEqual(valueIn("```\nnull\n```"), null);
  for (const none of ["", "Here: 1", "```json\n1\n```\nmore", "```json\n1\n```\n```json\n2\n```"]) {
    assert.equal(valueIn(none), undefined, none);
  }
});
