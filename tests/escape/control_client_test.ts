import assert from "node:assert/strict";
import { besiege, type Siege } from "../fake/siege.ts";
import { HONEST, peakOf } from "./_beside.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What a broken or hostile program of the same user writes to the socket, and whether it is hung up on. */
const CLIENTS: Readonly<
  Record<string, { readonly write: readonly Uint8Array[]; readonly answer: RegExp }>
> = {
  "garbage": { write: [crypto.getRandomValues(new Uint8Array(65_536)), bytes("\n")], answer: /^$/ },
  "a web browser": { write: [bytes("POST / HTTP/1.1\r\nHost: x\r\n\r\n{}")], answer: /^$/ },
  "another version": {
    write: [bytes('[1,"hello",{"version":2,"harness":"x"}]\n')],
    answer: /invalidInput.*control version 1, not 2/,
  },
  "no version": { write: [bytes('[1,"hello",null]\n')], answer: /invalidInput.*control version 1/ },
  "a request before the greeting": {
    write: [bytes('[1,"stop",null]\n')],
    answer: /invalidInput.*hello/,
  },
  "an answer nobody asked for": { write: [bytes("[-5,null,1]\n")], answer: /^$/ },
  "an event": { write: [bytes('[0,"stop",null]\n')], answer: /^$/ },
  "10,000 levels": {
    write: [bytes(`[1,"hello",${"[".repeat(10_000)}${"]".repeat(10_000)}]\n`)],
    answer: /^$/,
  },
  "a key twice": { write: [bytes('[1,"hello",{"version":2,"version":1}]\n')], answer: /^$/ },
  "66 MB in one line": {
    write: Array.from({ length: 1_010 }, () => new Uint8Array(65_536).fill(97)),
    answer: /^$/,
  },
  "a flood of greetings": {
    write: Array.from({ length: 100 }, () => bytes('[1,"hello",{"version":9}]\n'.repeat(100))),
    answer: /(badFrame|invalidInput|^$)/,
  },
};

/** Writes until it is hung up on; everything it was told. */
async function talk(siege: Siege, write: readonly Uint8Array[]): Promise<string> {
  using conn = await Deno.connect({ transport: "unix", path: siege.config.controlSocket });
  const heard: Uint8Array[] = [];
  const listening = (async () => {
    const chunk = new Uint8Array(65_536);
    for (let n = await conn.read(chunk); n !== null; n = await conn.read(chunk)) {
      heard.push(chunk.slice(0, n));
    }
  })().catch(() => undefined);
  try {
    for (const each of write) {
      for (let n = 0; n < each.length;) n += await conn.write(each.subarray(n));
    }
    await conn.closeWrite();
  } catch { /* hung up on */ }
  await listening;
  return new TextDecoder().decode(Uint8Array.from(heard.flatMap((each) => [...each])));
}

Deno.test("a hostile client of the control socket would have stopped, blinded or filled the kernel", async () => {
  await besiege(async (siege) => {
    const before = peakOf(siege.pid);
    for (const [name, { write, answer }] of Object.entries(CLIENTS)) {
      const [told] = await Promise.all([talk(siege, write), siege.ask("ps", null)]);
      assert.match(told, answer, name);
      assert.equal(told.includes("receiptKey"), false, name);
    }
    // Many at once that never say anything, while somebody works.
    const idle = await Promise.all(
      Array.from(
        { length: 200 },
        () => Deno.connect({ transport: "unix", path: siege.config.controlSocket }),
      ),
    );
    const bob = await siege.run({ turns: HONEST });
    assert.equal((await bob.end).exit, 0);
    for (const each of idle) each.close();
    assert.equal((await siege.ask("tasks", {}) as object[]).length, 1);
    assert.ok(peakOf(siege.pid) - before < 320 * 1024, `${peakOf(siege.pid) - before} KiB more`);
  });
});
