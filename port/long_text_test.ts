import assert from "node:assert/strict";
import fc from "fast-check";
import type { Json } from "../contracts/base/json.ts";
import type { Port } from "../contracts/base/port.ts";
import { makePort } from "./mod.ts";
import { alone, closesWith } from "./_fixture/alone.ts";

const LONG = 8_192;
const text = "é\n".repeat(LONG / 2);

Deno.test("a long string travels beside its frame, unescaped", async () => {
  const { port, written } = alone();
  port.tell("x", { a: [1, text] });
  await Promise.resolve();
  assert.deepEqual(written, [`+8192[0,"x",{"a":[1,null]},[[["a",1],8192]]]\n${text}\n`]);
});

Deno.test("alice's long strings arrive where she put them, in any cut of the bytes", async () => {
  const long = fc.constantFrom("a\n", "é", "漢", "👍", '"\\').map((unit) => unit.repeat(LONG));
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      long,
      fc.constantFrom<Json>(null, 1, "short"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "__proto__", "0", ""), tie("value"), { maxKeys: 3 }),
    ),
  }));
  const property = fc.asyncProperty(
    value,
    fc.integer({ min: 1, max: 70_000 }),
    async (body, size) => {
      const handler = { ask: (_op: string, heard: Json): Json => heard, tell(): void {} };
      const cutting = (to: () => Port) => (bytes: Uint8Array): void => {
        for (let i = 0; i < bytes.length; i += size) to().feed(bytes.subarray(i, i + size));
      };
      const alice: Port = makePort({ write: cutting(() => bob), handler });
      const bob: Port = makePort({ write: cutting(() => alice), handler });
      // As a port would see them: JSON.parse makes __proto__ a key.
      const sent = JSON.parse(JSON.stringify(body));
      assert.deepEqual(await alice.ask("echo", sent), sent);
      assert.equal(JSON.stringify(await alice.ask("echo", sent)), JSON.stringify(sent));
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

Deno.test("a long string with a lone surrogate stays in its frame, and arrives", async () => {
  const { port, written } = alone();
  port.tell("x", "\ud800".repeat(LONG));
  await Promise.resolve();
  assert.ok(written[0]?.startsWith('[0,"x","\\ud800\\ud800'));
});

const BAD: Readonly<Record<string, string>> = {
  "no text for it": `+8192[0,"x",null,[[[],8192]]]\n[0,"y",null]\n${" ".repeat(9_000)}`,
  "a text without place": `+8192[0,"x",null]\n${text}\n`,
  "an empty list of places": `+8192[0,"x",null,[]]\n${text}\n`,
  "places without a text": '[0,"x",null,[[[],8192]]]\n',
  "fewer units than announced": `+8193[0,"x",null,[[[],8192]]]\n${text}x\n`,
  "more units than announced": `+8192[0,"x",null,[[[],8193]]]\n${text}\n`,
  "a short text": '+1[0,"x",null,[[[],1]]]\nx\n',
  "a negative length": `+8192[0,"x",[null,null],[[[0],16384],[[1],-8192]]]\n${text}\n`,
  "a place that is taken": `+8192[0,"x","here",[[[],8192]]]\n${text}\n`,
  "a place filled twice": `+16384[0,"x",[null],[[[0],8192],[[0],8192]]]\n${text}${text}\n`,
  "a place that is not there": `+8192[0,"x",{"a":null},[[["b"],8192]]]\n${text}\n`,
  "a path to a prototype": `+8192[0,"x",{"a":null},[[["__proto__","a"],8192]]]\n${text}\n`,
  "a path to a length": `+8192[0,"x",[null],[[["length"],8192]]]\n${text}\n`,
  "a path of the wrong type": `+8192[0,"x",[null],[[["0"],8192]]]\n${text}\n`,
  "a path into a text": `+8192[0,"x",["a"],[[[0,0],8192]]]\n${text}\n`,
  "a path that is none": `+8192[0,"x",null,[[0,8192]]]\n${text}\n`,
  "a text of a failure": `+8192[-1,"gone",null,[[[],8192]]]\n${text}\n`,
  "a second way to write the length": `+08192[0,"x",null,[[[],8192]]]\n${text}\n`,
  "an announcement of nothing": '+0[0,"x",null,[]]\n\n',
};
for (const [what, frame] of Object.entries(BAD)) {
  Deno.test(`mallory's long text closes the port: ${what}`, async () => {
    const { port, feed, told } = alone();
    feed(`${frame}[0,"after",null]\n`);
    await closesWith(port, "badFrame");
    assert.deepEqual(told, []);
  });
}

Deno.test("an announced text past the limit closes the port before any of it came", async () => {
  const { port, feed } = alone();
  feed('+999999999[0,"x",null,[[[],999999999]]]\n');
  await closesWith(port, "tooLarge");
});

Deno.test("frame and long texts together stay within the limit, counted in bytes", async () => {
  const { port } = alone({ limits: { frameBytes: 10_000 } });
  await assert.rejects(port.ask("x", text), { code: "tooLarge" }); // 12,288 bytes of text
});
