import assert from "node:assert/strict";
import { makePaint } from "../terminal/paint.ts";
import { makeAheadEditor } from "./ahead_line.ts";
import { makeQueue, queueRows, statusRow } from "./typed_ahead.ts";
import type { Drawn } from "../terminal/footer.ts";

/** A line on a screen of 40 columns: what is drawn, and what was entered. */
function sit(complete?: (before: string) => { replaces: number; by: string; choices: string[] }) {
  const queue = makeQueue();
  const raised: string[] = [];
  let drawn: Drawn | undefined;
  const editor = makeAheadEditor({
    options: {
      prompt: "» ",
      above: () => queueRows(queue, 40),
      entered: queue.add,
      takeBack: queue.takeBack,
      ended: queue.leave,
      ...(complete === undefined ? {} : { complete }),
    },
    size: () => ({ columns: 40, rows: 24 }),
    footer: (rows) => drawn = rows,
    dim: makePaint(false).dim,
    signal: (move) => void raised.push(move),
  });
  const type = (text: string, shown = true): void =>
    editor.take(new TextEncoder().encode(text), shown);
  return { queue, raised, type, text: editor.text, rows: () => drawn?.rows ?? [] };
}

Deno.test("what is entered waits in its order, the arrow up takes the last one back, and nothing is lost", () => {
  const { queue, type, rows, text } = sit();
  type("one\rtwo\rthr");
  assert.deepEqual(queue.texts, ["one", "two"]);
  assert.deepEqual(rows(), ["  queued 1  one", "  queued 2  two", "» thr"]);
  type("ee\r\x1b[A");
  assert.deepEqual([queue.texts, text()], [["one", "two"], "three"]);
  type(" more\r");
  assert.deepEqual(queue.texts, ["one", "two", "three more"]);
  assert.equal(queue.drop(2), "two");
  assert.throws(() => queue.drop(3), /from 1 to 2/);
  assert.equal(queue.next(), "one");
});

Deno.test("Ctrl-D in an empty line ends the session after what is queued, once; in a line with words it deletes", () => {
  const { queue, type, text } = sit();
  type("one\rab\x1b[D\x04");
  assert.deepEqual([queue.texts, text()], [["one"], "a"]);
  type("\x7f\x04\x04");
  assert.deepEqual([queue.texts, text()], [["one", "/exit"], ""]);
});

Deno.test("what comes while a question stands there is kept and not drawn; an empty line enters nothing", () => {
  const { queue, type, rows, text } = sit();
  type("a");
  type("b\r\r  \rc", false);
  assert.deepEqual([rows(), queue.texts, text()], [["» a"], ["ab"], "c"]);
});

Deno.test("Ctrl-C raises a signal and leaves the draft; Tab completes or names what there is", () => {
  const { raised, type, text, rows } = sit((before) => ({
    replaces: before.length,
    by: "/cost",
    choices: before === "/c" ? ["/cap", "/cost"] : [],
  }));
  type("/c\x03");
  assert.deepEqual([raised, text()], [["interrupt"], "/c"]);
  type("\t");
  assert.deepEqual(rows(), ["    /cap   /cost", "» /cost"]);
});

Deno.test("mallory's words in a queue and a status draw nothing of their own, and take one row", () => {
  const { queue, type, rows } = sit();
  type(`\x1b[200~a\x1b[2J\nb\x07${"x".repeat(100)}\x1b[201~\r`);
  const [row = ""] = rows();
  assert.equal(queue.texts.length, 1);
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(rows().join(""), /[\x00-\x1f\x7f]/);
  assert.ok(row.length < 40, row);
  const status = { elapsed: 61_000, inputTokens: 12_345, outputTokens: 7, money: 0.01234 };
  assert.equal(
    statusRow({ model: "x\x1b[2J", ...status }),
    "x\\u{1b}[2J · 1 min · 12k in, 7 out · 0.0123 USD",
  );
});
