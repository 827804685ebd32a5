import assert from "node:assert/strict";
import { beginLine, edit, type Editing, promptOf, textOf } from "./line_edit.ts";
import { makeKeyReader } from "./line_keys.ts";
import { layOut, redraw } from "./line_view.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What a person sees of a line after these bytes, came they in one read or in many. */
function after(
  text: string,
  past: readonly string[] = [],
  many = true,
): Editing | string | undefined {
  const whole = run([bytes(text)], past, many);
  const single = run([...bytes(text)].map((byte) => Uint8Array.of(byte)), past, many);
  assert.deepEqual(single, whole, "however a read cuts them");
  return whole;
}

function run(
  reads: readonly Uint8Array[],
  past: readonly string[],
  many: boolean,
): Editing | string | undefined {
  const keys = makeKeyReader();
  let editing = beginLine(past);
  for (const key of reads.flatMap((each) => keys(each))) {
    const edited = edit(editing, key, { many, max: 40 });
    if (edited.kind === "entered") return edited.text;
    if (edited.kind === "ended") return undefined;
    editing = edited.editing;
  }
  return editing;
}

Deno.test("carol moves in her line, takes letters out and puts some in", () => {
  assert.equal(after("helo\x1b[Dl\r"), "hello");
  assert.equal(after("ab\x1b[H\x1b[3~c\r"), "cb");
  assert.equal(after("one two\x17three\n"), "one three");
  assert.equal(after("one two\x1b[1;5D\x0bsix\n"), "one six");
  assert.equal(run([bytes("one two\x1bb\x0bsix\n")], [], true), "one six", "Alt and b");
  assert.equal(run([bytes("one\x1b"), bytes("by\n")], [], true), "oneby", "Esc, then b");
  assert.equal(after("x\x15y\n"), "y");
});

Deno.test("a row begins with Shift-Enter, as kitty and xterm tell it, with a backslash, Alt-Enter and Ctrl-J", () => {
  for (
    const key of ["\x1b[13;2u", "\x1b[27;2;13~", "\x1b[13;2:1u", "\\\r", "\x1b\r", "\x1b[106;5u"]
  ) {
    assert.equal(after(`one${key}two\r`), "one\ntwo", JSON.stringify(key));
  }
  assert.equal(after("a\\b\r"), "a\\b", "a backslash within a line is one");
  assert.equal(after("a\\\r", [], false), "a\\", "an answer has one row");
});

Deno.test("keys that a terminal tells by number are what they are elsewhere", () => {
  assert.equal(after("a\x1b[98;1ub\x1b[117;5uc\x1b[13u"), "c", "Ctrl-U, then Enter");
  assert.equal(after("one two\x1b[98;3u\x1b[107;5usix\r"), "one six", "Alt and b, Ctrl-K");
  assert.equal(
    after("a\x1b[99;5ub\x1b[100;5u\r"),
    "b",
    "Ctrl-C empties it, Ctrl-D takes out nothing",
  );
  assert.equal(after("a\x1b[9999999u\x1b[0;9ub\r"), "ab", "what is no key does nothing");
  assert.equal(after("a\x1b[7;1ub\r"), "ab");
});

Deno.test("an Esc that nothing follows is a key, and one within a paste is none", () => {
  const keys = makeKeyReader();
  assert.deepEqual(keys(bytes("a\x1b")), [{ kind: "text", text: "a" }]);
  assert.deepEqual(keys(), [{ kind: "move", move: "escape" }]);
  assert.deepEqual(keys(), []);
  assert.deepEqual(keys(bytes("\x1b[27u")), [{ kind: "move", move: "escape" }]);
  keys(bytes("\x1b[200~a\x1b"));
  assert.deepEqual(keys(), []);
  assert.deepEqual(keys(bytes("b\x1b[201~")), [{ kind: "text", text: "ab" }]);
});

Deno.test("Ctrl-R finds what was said before, older with each press; Esc gives the draft back", () => {
  const past = ["pack a quince", "leave", "peel the quince", "sleep"];
  assert.equal(after("\x12quin\r", past), "peel the quince");
  assert.equal(after("\x12quin\x12\r", past), "pack a quince");
  assert.equal(after("\x12quin\x12\x12\r", past), "pack a quince", "there is none older");
  assert.equal(after("\x12quinx\x7f\r", past), "peel the quince");
  assert.equal(
    after("\x12lea\x05 early\r", past),
    "leave early",
    "another key edits what was found",
  );
  assert.equal(after("draft\x12quin\x1b[27u!\r", past), "draft!");
  assert.equal(after("draft\x12quin\x03!\r", past), "draft!");
  assert.equal(after("\x12a\r", past, false), "a", "an answer looks nothing up");
  const seeking = run([bytes("\x12q\x1b")], past, true);
  assert.ok(typeof seeking === "object");
  assert.equal(promptOf("› ", seeking), 'search "q" › ');
  const hostile = run([bytes("\x12\x1b[155u\x1b[131;1u")], past, true);
  assert.ok(typeof hostile === "object");
  // deno-lint-ignore no-control-regex -- these are what must not be written
  assert.doesNotMatch(promptOf("› ", hostile), /[\x00-\x1f\x7f-\x9f]/);
});

Deno.test("a letter is what a reader sees: one backspace takes a family or an accent back", () => {
  assert.equal(after("a👩\u200d👩\u200d👧\x7f!\r"), "a!");
  assert.equal(after("e\u0301\x7fx\r"), "x");
});

Deno.test("arrows walk through the past and back to what carol was writing", () => {
  const past = ["first", "second"];
  assert.equal(after("dra\x1b[A\x1b[A\n", past), "first");
  assert.equal(after("dra\x1bOA\x1b[Bft\n", past), "draft");
  assert.equal(after("\x1b[A\x1b[A\x1b[A\x1b[A!\n", past), "first!");
});

Deno.test("a paste is one text: its line ends enter nothing, and its escapes do nothing", () => {
  const paste = "\x1b[200~a\r\nb\x1b[A\x03\tc\x1b[201~";
  assert.equal(after(`${paste}\r`), "a\nb[A\tc");
  assert.equal(after("\x1b[200~allow\n\x1b[201~\n", [], false), "allow");
  assert.equal(after("\x1b[200~a\nb\x1b[201~\n", [], false), "a b");
  assert.equal(after("a\x1b\rb\x1b[A>\r"), "a>\nb", "the arrow up stays in a text of rows");
});

Deno.test("Ctrl-C empties a text and ends an empty line; a short answer it always ends", () => {
  const emptied = after("words\x03");
  assert.ok(typeof emptied === "object" && textOf(emptied.line) === "");
  assert.equal(after("words\x03\x03"), undefined);
  assert.equal(after("yes\x03", [], false), undefined);
  assert.equal(after("\x04"), undefined);
});

Deno.test("what is longer than the most is not taken, and an unknown key does nothing", () => {
  assert.equal(after(`\x1b[200~${"a".repeat(60)}\x1b[201~b\r`), "b");
  assert.equal(after("a\x1b[15~\x1b[1;2Pb\x00\r"), "ab");
});

Deno.test("a paste that is too long ends where it ends, however a read cuts its end in two", () => {
  const keys = makeKeyReader();
  const text = "a".repeat(200_100);
  for (let cut = 1; cut < 6; cut++) {
    const found = [`\x1b[200~${text}${"\x1b[201~".slice(0, cut)}`, `${"\x1b[201~".slice(cut)}\x03`]
      .flatMap((read) => keys(bytes(read)));
    assert.deepEqual(
      found.map((key) => key.kind === "move" ? key.move : key.text.length),
      [200_000, "interrupt"],
    );
  }
});

Deno.test("accents without end on one letter are not taken", () => {
  const piled = after(`e${"\u0301".repeat(20)}\x1b[200~${"\u0301".repeat(30)}\x1b[201~\r`);
  assert.equal(piled, `e${"\u0301".repeat(20)}`);
});

Deno.test("no row reaches the last column, the cursor stays in sight, and hidden signs are spelled out", () => {
  const line = { graphemes: [..."漢字 and more words of carol\nlast"], at: 3 };
  const drawn = layOut("\x1b[1m› \x1b[22m", line, { width: 12, maxRows: 3 });
  assert.equal(drawn.rows.length, 3);
  assert.ok(drawn.rows[drawn.row]?.startsWith(drawn.before));
  const end = layOut("› ", { ...line, at: line.graphemes.length }, { width: 12, maxRows: 3 });
  assert.deepEqual([end.rows.at(-1), end.row, end.before], ["  last", 2, "  last"]);
  const hostile = layOut("› ", { graphemes: ["\u202e", "\x9b"], at: 2 }, { width: 80, maxRows: 3 });
  assert.equal(hostile.rows[0], "› \\u{202e}\\u{9b}");
});

Deno.test("a line is drawn over itself, also after the window became narrower", () => {
  const at = (width: number): ReturnType<typeof layOut> =>
    layOut("> ", { graphemes: [..."0123456789"], at: 10 }, { width, maxRows: 9 });
  assert.equal(redraw(undefined, at(80), 80), "> 0123456789");
  assert.equal(redraw(at(80), at(80), 80), "");
  assert.equal(redraw(at(80), at(7), 7), "\x1b[1A\r\x1b[J> 0123\r\n  4567\r\n  89");
});
