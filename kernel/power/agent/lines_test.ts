import { deepEqual, equal } from "node:assert/strict";
import { makeLines } from "./relay.ts";

function heardOf(max: number): { hear(text: string): void; lines: string[]; over(): number } {
  const lines: string[] = [];
  let over = 0;
  const hear = makeLines({ max, line: (text) => lines.push(text), tooLong: () => void over++ });
  return { hear: (text) => hear(new TextEncoder().encode(text)), lines, over: () => over };
}

Deno.test("lines are heard whole, in whatever pieces they come", () => {
  const { hear, lines, over } = heardOf(8);
  for (const piece of ["a\nbc", "d", "\n", "\nrest 678", "\nopen"]) hear(piece);
  deepEqual(lines, ["a", "bcd", "", "rest 678"]);
  equal(over(), 0);
  // A character in two chunks.
  const bytes: string[] = [];
  const hearBytes = makeLines({ max: 8, line: (text) => bytes.push(text), tooLong() {} });
  for (const byte of new TextEncoder().encode("ü\n")) hearBytes(Uint8Array.of(byte));
  deepEqual(bytes, ["ü"]);
});

Deno.test("a line that is too long is told once, with what stood before it, and nothing after it is heard", () => {
  const { hear, lines, over } = heardOf(8);
  hear("one\n12345");
  equal(over(), 0);
  hear("6789");
  hear("more\ntwo\n");
  deepEqual(lines, ["one"]);
  equal(over(), 1);
  const whole = heardOf(3);
  whole.hear("abc\nabcd\nabc\n");
  deepEqual([whole.lines, whole.over()], [["abc"], 1]);
});
