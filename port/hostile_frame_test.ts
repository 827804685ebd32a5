import assert from "node:assert/strict";
import type { Json } from "../contracts/base/json.ts";
import { alone, closesWith, encoder } from "./_fixture/alone.ts";

const BAD: Readonly<Record<string, string>> = {
  "not JSON": "{",
  "empty line": "",
  "not an array": '{"id":1}',
  "a number": "7",
  "no id": "[]",
  "a string for an id": '["1","x",null]',
  "a fraction for an id": '[1.5,"x",null]',
  "an id past the safe integers": '[9007199254740992,"x",null]',
  "negative zero": '[-0,"x",null]',
  "no op": "[1,null,null]",
  "no body": '[1,"x"]',
  "a fifth part": '[1,"x",null,null,null]',
  "whitespace": '[1, "x",null]',
  "a carriage return": '[1,"x",null]\r',
  "a byte order mark": '\ufeff[1,"x",null]',
  "a repeated key": '[1,"x",{"a":1,"a":2}]',
  "a repeated key in disguise": '[1,"x",{"a":1,"\\u0061":2}]',
  "a repeated __proto__": '[1,"x",{"__proto__":1,"__proto__":2}]',
  "a number past all numbers": '[1,"x",1e999]',
  "an answer to nothing": "[-1,null,null]",
  "a failure of nothing": '[-1,"gone","Cannot","x"]',
  "a failure of a request": '[1,"gone","Cannot",null]',
  "an answer with an op": '[-1,"x",null]',
};
for (const [what, line] of Object.entries(BAD)) {
  Deno.test(`mallory's frame closes the port: ${what}`, async () => {
    const { port, feed, told } = alone();
    feed(`${line}\n[0,"after",null]\n`);
    await closesWith(port, "badFrame");
    assert.deepEqual(told, []);
  });
}

const BAD_FAILURES: Readonly<Record<string, string>> = {
  "an unknown code": '[-1,"oops","Cannot",null]',
  "a code of Object.prototype": '[-1,"constructor","Cannot",null]',
  "a message that is none": '[-1,"gone",1,null]',
  "a detail that is none": '[-1,"gone","Cannot",[1]]',
};
for (const [what, line] of Object.entries(BAD_FAILURES)) {
  Deno.test(`mallory's failure closes the port: ${what}`, async () => {
    const { port, feed } = alone();
    const asked = assert.rejects(port.ask("x", null), { code: "badFrame" });
    feed(line + "\n");
    await asked;
    await closesWith(port, "badFrame");
  });
}

Deno.test("an id is served once: a repeated or earlier one closes the port", async () => {
  for (const second of [1, 2]) {
    let served = 0;
    const { port, feed } = alone({ handler: { ask: () => ++served } });
    feed(`[2,"pay",null]\n[${second},"pay",null]\n`);
    await closesWith(port, "badFrame");
    assert.equal(served, 1);
  }
});

Deno.test("an answer is taken once: its repetition closes the port", async () => {
  const { port, feed } = alone();
  const asked = port.ask("x", null);
  feed('[-1,null,"first"]\n[-1,null,"second"]\n');
  assert.equal(await asked, "first");
  await closesWith(port, "badFrame");
});

Deno.test("answers that come after the end change nothing", async () => {
  const { port, feed } = alone();
  const asked = assert.rejects(port.ask("x", null), { code: "gone" });
  port.close("the test ended it");
  feed("[-1,null,1]\n{\n");
  await asked;
  assert.match((await port.closed).message, /the test ended it/);
  await assert.rejects(port.ask("y", null), { code: "gone" });
});

Deno.test("bytes that are not UTF-8 close the port: overlong, surrogate, lone, cut short", async () => {
  for (const bytes of [[0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xff], [0xe2, 0x82, 0x0a]]) {
    const { port } = alone();
    port.feed(new Uint8Array([0x5b, ...bytes]));
    await closesWith(port, "badFrame");
  }
});

Deno.test("a line of the limit passes, one byte more closes the port, also without its newline", async () => {
  const line = '[0,"x","é"]'; // 12 bytes, 11 characters
  const exact = alone({ limits: { frameBytes: 12 } });
  exact.feed(`${line}\n${line}\n`);
  assert.equal(exact.told.length, 2);
  const more = alone({ limits: { frameBytes: 11 } });
  more.feed(`${line}\n`);
  await closesWith(more.port, "tooLarge");
  const open = alone({ limits: { frameBytes: 11 } });
  for (const byte of encoder.encode(line)) open.port.feed(new Uint8Array([byte]));
  await closesWith(open.port, "tooLarge");
});

Deno.test("64 MB without a newline close the port after the first MiB", async () => {
  const { port } = alone();
  const chunk = new Uint8Array(65_536).fill(0x78);
  let fed = 0;
  let open = true;
  port.closed.then(() => open = false);
  for (; open && fed < 64 << 20; fed += chunk.length) {
    port.feed(chunk);
    await Promise.resolve();
  }
  await closesWith(port, "tooLarge");
  assert.ok(fed <= (1 << 20) + 2 * chunk.length);
});

Deno.test("depth and nodes of a body are bounded: the limit passes, one more closes the port", async () => {
  const nested = (depth: number): string => `[0,"x",${"[".repeat(depth)}${"]".repeat(depth)}]\n`;
  const wide = (nodes: number): string => `[0,"x",[${Array(nodes - 1).fill(0)}]]\n`;
  const fine = alone({ limits: { nodes: 64 } });
  fine.feed(nested(64) + wide(64));
  assert.equal(fine.told.length, 2);
  for (const frame of [nested(65), nested(10_000), nested(400_000), wide(65), wide(200_000)]) {
    const { port, feed } = alone({ limits: { nodes: 64 } });
    feed(frame);
    await closesWith(port, "tooLarge");
  }
});

Deno.test("more requests at once than the limit close the port; answered ones do not count", async () => {
  const later = Promise.withResolvers<Json>();
  const { port, feed } = alone({ limits: { pending: 2 }, handler: { ask: () => later.promise } });
  feed('[1,"x",null]\n[2,"x",null]\n');
  later.resolve(null);
  await later.promise;
  await Promise.resolve();
  feed('[3,"x",null]\n[4,"x",null]\n');
  feed('[5,"x",null]\n');
  await closesWith(port, "tooLarge");
});

Deno.test("frames are counted over ten seconds: a burst passes, a flood closes the port", async () => {
  let clock = 0;
  const { port, feed, told } = alone({ limits: { framesPerSecond: 5 }, now: () => clock });
  const frames = (n: number): string => '[0,"x",null]\n'.repeat(n);
  feed(frames(50));
  clock += 2_000;
  feed(frames(10));
  assert.equal(told.length, 60);
  feed(frames(1));
  await closesWith(port, "tooLarge");
  assert.equal(told.length, 60);
});
