import assert from "node:assert/strict";
import { makeTerminalText } from "./terminal_text.ts";

const ESC = "\u001b";
const read = (...pieces: readonly string[]): string => pieces.map(makeTerminalText()).join("");

Deno.test("colours, titles, cursor movement and bells are left out; text, tabs and lines stay", () => {
  const drawn =
    `${ESC}]0;title\u0007${ESC}[1;31mred${ESC}[0m\tplain\r\n${ESC}(B${ESC}[2J${ESC}[10;3H` +
    `${ESC}P1$r q${ESC}\\after\u0007\u0000\u007f${ESC}c${ESC}=end\r\n`;
  assert.equal(read(drawn), "red\tplain\nafterend\n");
});

Deno.test("what is drawn over is not hidden: a carriage return after text is a newline", () => {
  assert.equal(read(`rm -rf x\r${ESC}[Kls\r\n`), "rm -rf x\nls\n");
  assert.equal(read("10%\r20%\r\r\n\r\rdone"), "10%\n20%\ndone");
  assert.equal(read("safe\b\b\b\bevil"), "safeevil");
});

Deno.test("sequences that are cut anywhere are left out all the same", () => {
  const drawn = `a${ESC}[38;5;12mb${ESC}]8;;http://x${ESC}\\c\u009b1md\u009dtitle\u009ce`;
  for (let at = 0; at <= drawn.length; at++) {
    assert.equal(read(drawn.slice(0, at), drawn.slice(at)), "abcde", `cut at ${at}`);
  }
  assert.equal(read(...drawn), "abcde");
});

Deno.test("mallory cannot swallow what comes later with a sequence or a string without an end", () => {
  assert.match(read(`${ESC}]0;${"x".repeat(5_000)}`, "seen"), /seen$/);
  assert.match(read(`${ESC}[${"1".repeat(300)}`, "seen"), /seen$/);
  assert.equal(read(`${ESC}[12\nseen`), "\nseen");
  assert.equal(read(`${ESC}]0;t\u0018seen`), "seen");
  assert.equal(read(`${ESC}]0;t${ESC}[1mseen`), "seen");
  assert.equal(read(`${ESC}[漢seen`), "漢seen");
});

Deno.test("no control character but tab and newline ever comes out", () => {
  const all = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code));
  for (const first of ["", ESC, `${ESC}[`, `${ESC}]`, `${ESC}(`]) {
    for (const char of all) {
      const text = read(`${first}${char}`, `${char}x`, `${ESC}${char}${ESC}`);
      // deno-lint-ignore no-control-regex -- control characters are what it looks for
      assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }
  }
});
