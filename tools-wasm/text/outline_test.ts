import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { callText, valueOf } from "./_fixture/text_plugin.ts";

async function outlined(text: string, depth?: number): Promise<readonly string[]> {
  const { headings } = await valueOf(
    "text_outline",
    depth === undefined ? { text } : { text, depth },
  );
  return headings.map((h: { level: number; line: number; text: string }) =>
    `${h.level}:${h.line}:${h.text}`
  );
}

const CASES: readonly [claim: string, text: string, wanted: readonly string[]][] = [
  ["levels one to six", "# a\n###### b\n####### c\n", ["1:1:a", "6:2:b"]],
  ["a blank is needed", "#a\n# \n#\n", ["1:2:", "1:3:"]],
  ["closing signs go", "## a ##\n## b #c\n## d#\n# #\n", ["2:1:a", "2:2:b #c", "2:3:d#", "1:4:"]],
  ["three blanks are no code", "   # a\n    # b\n\t# c\n", ["1:1:a"]],
  ["code blocks are skipped", "```js\n# a\n```\n# b\n~~~\n```\n# c\n~~~~\n# d\n", [
    "1:4:b",
    "1:9:d",
  ]],
  ["a shorter fence does not close", "````\n```\n# a\n````\n# b\n", ["1:5:b"]],
  ["an open fence hides the rest", "```\n# a\n", []],
  ["a fence with a sign in its words is none", "``` a`b\n# c\n", ["1:2:c"]],
  ["underlined", "a\n===\nb\n---\n", ["1:1:a", "2:3:b"]],
  ["a paragraph of two lines", "a\nb\n=\n", ["1:1:a b"]],
  ["a line across is no heading", "a\n\n---\n- b\n---\n> c\n---\n", []],
  ["an underline with words is none", "a\n--- b\n", []],
  ["numbers of a list", "1. a\n---\n2) b\n===\n", []],
  ["front matter is skipped", "---\ntitle: a\n# b\n---\n# c\n", ["1:5:c"]],
  ["a line across at the top is no front matter", "---\n# a\n", ["1:2:a"]],
  ["behind a byte order mark", "\ufeff# a\n# b\n", ["1:1:a", "1:2:b"]],
  ["underlined behind a byte order mark", "\ufeffa\n===\n", ["1:1:a"]],
  ["front matter behind a byte order mark", "\ufeff---\n# a\n---\n# b\n", ["1:4:b"]],
  ["a mark in another line is text", "\ufeff\n\ufeff# a\n", []],
  ["CR LF", "# a\r\nb\r\n---\r\n", ["1:1:a", "2:2:b"]],
];

Deno.test("headings are found where Markdown has them, and nowhere else", async () => {
  for (const [claim, text, wanted] of CASES) deepStrictEqual(await outlined(text), wanted, claim);
});

Deno.test("deeper headings are left out when only the upper ones are asked for", async () => {
  deepStrictEqual(await outlined("# a\n## b\n### c\nd\n---\n", 1), ["1:1:a"]);
});

Deno.test("an outline of a large file is cut, and long headings are, too", async () => {
  const f = `# ${"ä".repeat(3_000_000)}\n${"## x\n".repeat(200_000)}`;
  const { value } = await callText("text_outline", { path: "f" }, { f });
  strictEqual(value.more, true);
  strictEqual(value.headings[0].text, "ä".repeat(150));
  ok(JSON.stringify(value).length < 65_536);
});
