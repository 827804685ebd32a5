import assert from "node:assert/strict";
import { change, question } from "../_fixture/samples.ts";
import { makeDisk } from "../../launch/disk/disk_powers.ts";
import { makePaint } from "../terminal/paint.ts";
import { makeDiffPaint } from "./diff_paint.ts";
import { fittingLines, shownWhole } from "./question_frame.ts";
import { showChange } from "./shown_content.ts";

const folder = Deno.makeTempDirSync();
const disk = makeDisk();
const paint = makePaint(false);

Deno.test("at 80 by 24 a question's headline and all its fields are on the screen, whatever it would change", () => {
  const next = Array.from({ length: 300 }, (_, n) => `line ${n}\n`).join("");
  for (const files of [1, 3, 40]) {
    const staged = Array.from(
      { length: files },
      (_, n) => change(folder, `desk/long-${n}`, { next: next + n }),
    );
    const changes = staged.map((each) => showChange(disk, folder, each));
    const { lines, maxLines } = fittingLines(question({ changes: staged }), changes, {
      ...{ width: 80, paint, rows: 21 },
    });
    assert.ok(lines.length <= 21, String(lines.length));
    assert.match(lines[0] ?? "", /Remit asks/);
    assert.match(lines[1] ?? "", /Apply 1 change/);
    assert.match(lines.at(-1) ?? "", /^┗━+$/);
    assert.ok(lines.some((line) => /more lines: type d/.test(line)));
    assert.deepEqual(
      shownWhole(changes, false, maxLines),
      [],
      "what was not shown is not vouched for",
    );
    assert.equal(shownWhole(changes, true, maxLines).length, files);
  }
});

Deno.test("at 80 by 24 the headline of a call with all that is known of it is on the screen", () => {
  const value = "x".repeat(80);
  const differs = Array.from({ length: 16 }, (_, n) => ({ at: `f${n}`, was: value, now: value }));
  const asked = question({
    ...{ earlier: { task: "t000000000009", at: 1, differs, more: 3 }, described: "y".repeat(300) },
    ...{ declared: "other", remember: "allow mcp_bank_pay with exactly these arguments" },
    scope: { ...question().scope, tool: "mcp_bank_pay", destination: "mcp:bank" },
    argumentsText: JSON.stringify(Object.fromEntries(differs.map(({ at, now }) => [at, now]))),
  });
  const { lines } = fittingLines(asked, [], { width: 80, paint, rows: 21, request: "Pay the car" });
  assert.ok(lines.length <= 21, String(lines.length));
  assert.match(lines[0] ?? "", /Remit asks/);
  assert.ok(lines.some((line) => /last call/.test(line)), lines.join("\n"));
  assert.match(lines.at(-1) ?? "", /^┗━+$/);
});

Deno.test("what fits is shown whole, and counts as seen", () => {
  const staged = change(folder, "desk/x.md", { base: "one\n", next: "two\n" });
  const changes = [showChange(disk, folder, staged)];
  const { maxLines } = fittingLines(question({ changes: [staged] }), changes, {
    ...{ width: 80, paint, rows: 21 },
  });
  assert.deepEqual(shownWhole(changes, false, maxLines), [staged.next]);
});

Deno.test("a diff shows what comes, what goes, what moved and the words that changed; without colours it is as it was", () => {
  const lines = [
    "@@ -1,4 +1,4 @@",
    "-a line that moves",
    " same",
    "-old words here",
    "+new words here",
    " end",
    "+a line that moves",
  ];
  const plain = makeDiffPaint(lines, paint);
  assert.deepEqual(lines.map(plain), lines);
  const colour = makeDiffPaint(lines, makePaint(true));
  assert.ok(colour("-a line that moves").startsWith("\x1b[36m"));
  assert.ok(colour("+a line that moves").startsWith("\x1b[36m"));
  assert.ok(colour("+new words here").includes("\x1b[1m\x1b[32mnew"), colour("+new words here"));
  assert.equal(colour(" same"), " same");
});
