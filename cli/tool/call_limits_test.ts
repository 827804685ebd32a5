import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { onMachine } from "../../tests/fake/remit.ts";
import { readArguments } from "./call_command.ts";

const MOUNT = ["--mount", "desk=desk"];

for (
  const [what, text, why] of [
    ["no JSON", '{"a": }', /they are no JSON: Unexpected token/],
    ["a key twice", '{"a":1,"a":2}', /repeats a key/],
    ["a list", "[1]", /write an object/],
    ["too deep", `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`, /nested too deeply/],
    ["too many", JSON.stringify({ a: Array(200_000).fill(0) }), /too many values/],
    ["too large", JSON.stringify({ a: "x".repeat(1_000_000) }), /larger than a call may be/],
    ["far too large", JSON.stringify({ a: "x".repeat(9_000_000) }), /larger than a call may be/],
    [
      "too large as it travels",
      JSON.stringify({ a: "\n".repeat(400_000) }),
      /put the text into a file/,
    ],
  ] as const
) {
  Deno.test(`arguments that are ${what} are refused with the reason`, () => {
    assert.throws(
      () => readArguments(text),
      (fault) => fault instanceof Fault && fault.code === "invalidInput" && why.test(fault.message),
    );
  });
}

Deno.test("a call with as much as it may take, and one with as much as it may give, come through whole", async () => {
  await onMachine(async (machine) => {
    await machine.write("desk/long.txt", `${"0123456789".repeat(9)}\n`.repeat(640));
    const call = (...words: string[]) => machine.remit(["tool", "call", ...words]);
    const read = await call("file_read", '{"path":"desk/long.txt"}', ...MOUNT);
    assert.equal(read.code, 0, read.stderr);
    assert.equal(read.stdout, await machine.read("desk/long.txt"));

    const content = "x".repeat(990_000);
    const args = JSON.stringify({ path: "desk/new.txt", content });
    const written = await machine.remit(
      ["tool", "call", "file_write", "-", "--mount", "desk=desk:rw", "--on-question", "deny"],
      args,
    );
    // It was decided like any write: nobody was there to allow it.
    assert.equal(written.code, 64, written.stderr);
    assert.match(written.stderr, /deniedByUser/);

    const over = await machine.remit(
      ["tool", "call", "file_write", "-"],
      args.replace("x", "\\n".repeat(20_000)),
    );
    assert.equal(over.code, 2);
    assert.match(over.stderr, /^remit: Cannot read the arguments: .* put the text into a file/);
  });
});

Deno.test("an error of several lines is told as one, and none of it passes for a result", async () => {
  await onMachine(async (machine) => {
    const code = 'function f() {\n  throw new Error("boo")\n}\nf()';
    const words = ["tool", "call", "exec", JSON.stringify({ code })];
    const called = await machine.remit(words);
    assert.equal(called.code, 1);
    assert.equal(called.stdout, "");
    assert.match(
      called.stderr,
      /executionError: Cannot finish: Error: boo\n {2}│ {5}at f \(program\.js:2:\d+\)\n/,
    );
    const told = await machine.json(words).catch((error) => error);
    assert.equal((told as { readonly content: string }).content, "");
  });
});
