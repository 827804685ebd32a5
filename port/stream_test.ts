import assert from "node:assert/strict";
import { once } from "node:events";
import type { PortHandler } from "../contracts/base/port.ts";
import { portOverConn } from "./stream_powers.ts";
import { portOverChild } from "./_fixture/child_port.ts";
import { start, stop } from "./_fixture/spawn.ts";

const silent: PortHandler = { ask: () => null, tell: () => {} };

Deno.test("a real child without permissions answers, also with 1,000 requests in flight", async () => {
  const child = start("echo_child.ts");
  const port = portOverChild(child, { handler: silent });
  assert.deepEqual(await port.ask("echo", { a: [1, "é\u2028"] }), { a: [1, "é\u2028"] });
  const answers = await Promise.all(Array.from({ length: 1_000 }, (_, i) => port.ask("echo", i)));
  assert.deepEqual(answers, Array.from({ length: 1_000 }, (_, i) => i));
  await stop(child);
});

Deno.test("bodies past a pipe's size cross whole, both ways at once", async () => {
  const child = start("echo_child.ts");
  const port = portOverChild(child, { handler: silent });
  const bodies = Array.from({ length: 24 }, (_, i) => `${i} 漢 "`.repeat(40_000));
  assert.deepEqual(await Promise.all(bodies.map((body) => port.ask("echo", body))), bodies);
  await stop(child);
});

Deno.test("the child exits with 0 when its stdin closes, and the port hears of the end", async () => {
  const child = start("echo_child.ts");
  const port = portOverChild(child, { handler: silent });
  await port.ask("echo", 1);
  child.stdin?.end();
  assert.deepEqual(await once(child, "exit"), [0, null]);
  assert.equal((await port.closed).code, "gone");
  await assert.rejects(port.ask("echo", 2), { code: "gone" });
});

Deno.test("a child that gets a bad frame, or whose handler has a bug, says so on stderr and exits with 1", async () => {
  for (const [line, said] of [["{}", "badFrame"], ['[1,"bug",null]', "TypeError"]] as const) {
    const child = start("echo_child.ts");
    let stderr = "";
    child.stderr?.on("data", (chunk) => stderr += chunk);
    child.stdin?.write(line + "\n");
    assert.deepEqual(await once(child, "close"), [1, null]);
    assert.match(stderr, new RegExp(said));
  }
});

const HOSTILE = [
  ["64 MB line", "tooLarge"],
  ["flood", "tooLarge"],
  ["deep nesting", "tooLarge"],
  ["exit", "gone"],
] as const;
for (const [play, code] of HOSTILE) {
  Deno.test(`mallory's child, ${play}: its port closes with ${code}, another child's goes on`, async () => {
    const mallory = start("hostile_child.js", play);
    const alice = start("echo_child.ts");
    const hers = portOverChild(alice, { handler: silent });
    const his = portOverChild(mallory, { handler: silent });
    const asked = assert.rejects(his.ask("x", null), { code });
    assert.equal((await his.closed).code, code);
    await asked;
    assert.equal(await hers.ask("echo", "still here"), "still here");
    await Promise.all([stop(mallory), stop(alice)]);
  });
}

/** Both ends of a unix socket. */
async function sockets(): Promise<{ here: Deno.Conn; there: Deno.Conn }> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/s`;
  using listener = Deno.listen({ transport: "unix", path });
  const [here, there] = await Promise.all([
    listener.accept(),
    Deno.connect({ transport: "unix", path }),
  ]);
  await Deno.remove(folder, { recursive: true });
  return { here, there };
}

Deno.test("two ports over a socket ask each other; closing one ends both", async () => {
  const { here, there } = await sockets();
  const echo: PortHandler = { ask: (_op, body) => body, tell: () => {} };
  const kernel = portOverConn(here, { handler: echo });
  const line = portOverConn(there, { handler: echo });
  const big = "é\n".repeat(200_000);
  assert.equal(await line.ask("echo", big), big);
  assert.equal(await kernel.ask("echo", 1), 1);
  kernel.tell("last", "words");
  kernel.close("done");
  assert.match((await line.closed).message, /hung up/);
  await kernel.closed;
});

Deno.test("a peer on a socket that does not read is let go once too many bytes wait for it", async () => {
  const { here, there } = await sockets();
  const port = portOverConn(here, { handler: silent, bufferedBytes: 1 << 20 });
  for (let sent = 0; sent < 40; sent++) {
    port.tell("x", "x".repeat(65_536));
    await Promise.resolve();
    await Promise.resolve();
  }
  assert.equal((await port.closed).code, "gone");
  there.close();
});
