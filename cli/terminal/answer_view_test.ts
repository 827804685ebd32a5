import assert from "node:assert/strict";
import fc from "fast-check";
import { makeAnswerView } from "./answer_view.ts";
import { makeHighlight } from "./highlight.ts";
import { columnsOf } from "./columns.ts";
import { makePaint } from "./paint.ts";

const plain = makePaint(false);

/** Shows a text that comes in these pieces. */
function shown(pieces: readonly string[], width = 40, colour = false): string {
  const view = makeAnswerView({ paint: colour ? makePaint(true) : plain, width });
  return pieces.map((piece) => view.push(piece)).join("") + view.end();
}

Deno.test("words appear as they come, and wrap between them at the width", () => {
  const view = makeAnswerView({ paint: plain, width: 20 });
  assert.equal(view.push("The tide "), "The tide");
  assert.equal(view.push("tur"), "");
  assert.equal(view.push("ns at six in the morning. So"), " turns at\nsix in the morning.");
  assert.equal(view.push(""), "");
  assert.equal(view.end(), "\nSo\n");
});

Deno.test("headings, lists, quotes, rules and emphasis take the terminal's styles", () => {
  const text =
    "# Tides\n\n- **high** at `six`\n- a long item that goes on to a second row of it\n  1. one\n> said\n---\n*soft* 2*3*4\n";
  assert.equal(
    shown([text]),
    [
      ...["Tides", "", "• high at six", "• a long item that goes on to a second", "  row of it"],
      ...["  1. one", "▏ said", "─".repeat(40), "soft 2*3*4", ""],
    ].join("\n"),
  );
  assert.equal(shown(["**b** `c`\n"], 40, true), "\x1b[1mb\x1b[22m \x1b[36mc\x1b[39m\n");
});

Deno.test("code stands as it is, line by line, coloured by the highlighter that is handed in", () => {
  const heard: string[] = [];
  const view = makeAnswerView({
    ...{ paint: plain, width: 20 },
    highlight: (line, language, before) => {
      heard.push(`${language} ${before.length} ${line}`);
      return line.toUpperCase();
    },
  });
  const out = view.push("```ts\nconst a = **1**;\nlet b = 'a long line that is wider';\n```\nso\n");
  assert.equal(out, "  CONST A = **1**;\n  LET B = 'A LONG LINE THAT IS WIDER';\nso\n");
  assert.deepEqual(heard, ["ts 0 const a = **1**;", "ts 1 let b = 'a long line that is wider';"]);
});

Deno.test("mallory's answer moves no cursor, hides nothing and draws no style of its own", () => {
  const hostile =
    "a\x1b[2Jb\u202e c\x9b31m **\x1b]0;t\x07** `\x1b[31m`\n```\n\x1b[H\n```\n| \x1b[5m |\n> \r x\n# \x1b[1m\n";
  const out = shown([hostile], 60, true);
  // Beyond the five styles that the view itself writes, and ends of lines.
  const others = ["1", "2", "22", "36", "39"].reduce(
    (left, n) => left.replaceAll(`\x1b[${n}m`, ""),
    out,
  );
  assert.match(others, /^[\n\p{L}\p{N}\p{P}\p{S} ]*$/u);
});

Deno.test("in whatever pieces an answer comes, it is shown alike, and no row is wider than the screen", () => {
  const part = fc.constantFrom(
    ...[
      "word",
      " ",
      "\n",
      "**",
      "*",
      "`",
      "```",
      "```ts\n",
      "# ",
      "- ",
      "12. ",
      "> ",
      "|",
      "日本語",
      "é",
    ],
    ...["a-very-long-word-that-does-not-fit-anywhere", "---", "\r\n", "\t"],
  );
  fc.assert(fc.property(
    fc.array(part, { maxLength: 60 }),
    fc.array(fc.nat(8), { maxLength: 60 }),
    fc.integer({ min: 16, max: 60 }),
    (parts, cuts, width) => {
      const text = parts.join("");
      const pieces: string[] = [];
      let at = 0;
      for (const cut of cuts) {
        pieces.push(text.slice(at, at + cut));
        at += cut;
      }
      pieces.push(text.slice(at));
      const whole = shown([text], width);
      assert.equal(shown(pieces, width), whole);
      const wide = text.includes("```")
        ? []
        : whole.split("\n").filter((row) => columnsOf(row) > width);
      assert.deepEqual(wide, []);
      const letters = (each: string): string => each.replaceAll(/[^a-z日本語]/gi, "");
      // The name of a block's language is not shown.
      if (!text.includes("```")) assert.equal(letters(whole), letters(text));
    },
  ));
});

Deno.test("code is coloured by its language's grammar, and a string over several lines stays one", () => {
  const highlight = makeHighlight(makePaint(true));
  assert.equal(
    highlight("const a = 1; // one", "ts", []),
    "\x1b[36mconst\x1b[39m a = \x1b[33m1\x1b[39m; \x1b[2m// one\x1b[22m",
  );
  assert.equal(highlight("still `", "js", ["let a = `text"]), "\x1b[32mstill `\x1b[39m");
  assert.equal(highlight("a\x1b[2J", "no-such-language", []), "a\\u{1b}[2J");
});
