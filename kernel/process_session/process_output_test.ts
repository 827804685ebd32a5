import assert from "node:assert/strict";
import { makeOutput, makeTerminalText } from "./process_output.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  const open = Symbol();
  return await Promise.race([promise, Promise.resolve(open)]) !== open;
}

Deno.test("characters that are cut by pieces and by polls come whole", async () => {
  const all = "aä漢𝒳z";
  for (let at = 1; at < bytes(all).length; at++) {
    const output = makeOutput(1_000);
    await output.hear(bytes(all).subarray(0, at));
    await output.hear(bytes(all).subarray(at));
    let text = "";
    while (output.waiting() > 0) text += output.take(1 + at % 3, false).text;
    assert.equal(text, all, `cut at ${at}`);
  }
});

Deno.test("who prints more than there is room for waits until it is read, and loses nothing", async () => {
  const output = makeOutput(4);
  await output.hear(bytes("abc"));
  const waits = output.hear(bytes("defg"));
  assert.equal(await isSettled(waits), false);
  assert.deepEqual(output.take(2, false), { text: "ab", dropped: 0 });
  assert.equal(await isSettled(waits), false);
  assert.deepEqual(output.take(2, false), { text: "cd", dropped: 0 });
  await waits;
  assert.deepEqual(output.take(9, false), { text: "efg", dropped: 0 });
});

Deno.test("the newest can be had, from a whole character on, and what is left out is counted", async () => {
  const output = makeOutput(1_000);
  await output.hear(bytes("one"));
  await output.hear(bytes("ä漢x"));
  assert.deepEqual(output.take(3, true), { text: "x", dropped: 8 });
  assert.deepEqual(output.take(3, true), { text: "", dropped: 0 });
});

Deno.test("once the program is gone nobody waits; a broken end is shown, what exceeds twice the room dropped", async () => {
  const output = makeOutput(4);
  const waits = output.hear(bytes("abcdef"));
  output.release();
  await waits;
  await output.hear(bytes("gh\u00e4").subarray(0, 3));
  await output.hear(bytes("lost"));
  assert.deepEqual(output.take(100, false), { text: "abcdefgh\ufffd", dropped: 4 });
});

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
