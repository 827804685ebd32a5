import assert from "node:assert/strict";
import { makeOutput } from "./process_output.ts";

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
