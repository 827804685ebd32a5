import assert from "node:assert/strict";
import fc from "fast-check";
import { columnsOf, exactWrap } from "./columns.ts";
import { inkedWrap, makeFooter } from "./footer.ts";

const row = (text: string) => ({ rows: [text], row: 0, before: text });

Deno.test("rows at the bottom are lifted before other text, which goes on where it was", () => {
  const footer = makeFooter();
  footer.wrote("begun ");
  assert.equal(footer.put(row("» a")), "\r\n» a");
  assert.equal(footer.lift(80), "\x1b[1A\r\x1b[Jbegun ");
  footer.wrote("row\nnext");
  assert.ok(footer.midway());
  assert.equal(footer.put({ rows: ["q", "» a"], row: 1, before: "» " }), "\r\nq\r\n» a\r» ");
  // Two rows above the cursor: the queue, and the row that was begun.
  assert.equal(footer.lift(80), "\x1b[2A\r\x1b[Jnext");
  footer.wrote("\n");
  assert.equal(footer.put(row("» ")), "» ");
  assert.equal(footer.put(undefined), "");
  assert.equal(footer.lift(80), "");
});

Deno.test("a line of Remit's own breaks between words, also with colours; what fits stays as it is", () => {
  assert.deepEqual(inkedWrap("  one two", 9), ["  one two"]);
  assert.deepEqual(inkedWrap("  \x1b[2mone two\x1b[22m three", 12), [
    "  \x1b[2mone two\x1b[22m",
    "    three",
  ]);
  assert.deepEqual(inkedWrap("  /a/very/long/path x", 10), ["  /a/very/long/path", "    x"]);
});

Deno.test("text that is broken between words is the text again, in rows that fit, and no short word is cut", () => {
  fc.assert(fc.property(fc.array(fc.string({ maxLength: 12 })), (words) => {
    const text = words.map((word) => word.replaceAll(/\s/g, "_")).join(" ");
    const rows = exactWrap(text, 30);
    assert.equal(rows.join(""), text);
    for (const each of rows) assert.ok(columnsOf(each) <= 30, JSON.stringify(each));
    if (/ {2}/.test(text)) return;
    const whole = rows.flatMap((each) => each.split(" ")).filter((word) => word !== "");
    assert.deepEqual(whole, text.split(" ").filter((word) => word !== ""));
  }));
});
