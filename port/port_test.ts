import assert from "node:assert/strict";
import type { Json } from "../contracts/base/json.ts";
import type { Port, PortHandler } from "../contracts/base/port.ts";
import { Fault } from "../contracts/base/fault.ts";
import { makePort } from "./mod.ts";
import { alone, closesWith, encoder } from "./_fixture/alone.ts";

/** Two ports joined in memory. */
function pair(handler: Partial<PortHandler>): { alice: Port; bob: Port } {
  const alice: Port = makePort({
    write: (bytes) => bob.feed(bytes),
    handler: { ask: () => null, tell(): void {} },
  });
  const bob: Port = makePort({
    write: (bytes) => alice.feed(bytes),
    handler: { ask: () => null, tell(): void {}, ...handler },
  });
  return { alice, bob };
}

Deno.test("alice asks bob and gets his answer, at once or later, in any order", async () => {
  const later = Promise.withResolvers<Json>();
  const { alice } = pair({ ask: (op, body) => op === "later" ? later.promise : body });
  const first = alice.ask("later", null);
  assert.deepEqual(await alice.ask("echo", { a: [1, "é", null] }), { a: [1, "é", null] });
  later.resolve("done");
  assert.equal(await first, "done");
});

Deno.test("bob's refusal reaches alice as the same fault: code, message and detail", async () => {
  const { alice } = pair({
    ask: () => {
      throw new Fault("conflict", "Cannot write note: it changed", { detail: { version: 2 } });
    },
  });
  await assert.rejects(alice.ask("write", null), {
    name: "Fault",
    code: "conflict",
    message: "Cannot write note: it changed",
    detail: { version: 2 },
  });
});

Deno.test("a bug of bob's ends the session on both sides' behalf, and keeps its cause", async () => {
  const bug = new TypeError("x is not a function");
  for (
    const ask of [() => Promise.reject(bug), () => {
      throw bug;
    }]
  ) {
    const { port, feed } = alone({ handler: { ask } });
    feed('[1,"x",null]\n');
    const fault = await port.closed;
    assert.equal(fault.code, "gone");
    assert.equal(fault.cause, bug);
    assert.ok(!fault.message.includes("not a function"));
  }
});

Deno.test("what is said in one turn goes out in one write", async () => {
  const { port, written } = alone();
  port.tell("a", 1);
  port.ask("b", 2).catch(() => {});
  port.tell("c", 3);
  await Promise.resolve();
  assert.deepEqual(written, ['[0,"a",1]\n[1,"b",2]\n[0,"c",3]\n']);
});

Deno.test("received bodies are frozen, and __proto__ is a key like any other", () => {
  let seen: Json = null;
  const { feed } = alone({ handler: { tell: (_op, body) => void (seen = body) } });
  feed('[0,"x",{"__proto__":{"admin":true},"list":[{}]}]\n');
  assert.ok(seen !== null && Object.hasOwn(seen, "__proto__"));
  assert.ok(Object.isFrozen(seen));
  assert.equal(Reflect.get({}, "admin"), undefined);
  assert.deepEqual(Object.keys(seen), ["__proto__", "list"]);
});

Deno.test("an answer of alice's that comes after the end is not written", async () => {
  const later = Promise.withResolvers<Json>();
  const { port, feed, written } = alone({ handler: { ask: () => later.promise } });
  feed('[1,"x",null]\n');
  port.close("the test ended it");
  later.resolve(1);
  await later.promise;
  await Promise.resolve();
  assert.deepEqual(written, []);
});

Deno.test("what was said before close is still written", () => {
  const { port, written } = alone();
  port.tell("last", "words");
  port.close("done");
  assert.deepEqual(written, ['[0,"last","words"]\n']);
});

Deno.test("lines are put together from any cut of the bytes", () => {
  const text = '[0,"é",{"漢":"👍"}]\n[0,"b",null]\n';
  for (let size = 1; size < 12; size++) {
    const { port, told } = alone();
    const bytes = encoder.encode(text);
    for (let i = 0; i < bytes.length; i += size) port.feed(bytes.subarray(i, i + size));
    assert.deepEqual(told, [["é", { "漢": "👍" }], ["b", null]]);
  }
});

Deno.test("alice's own flood of requests is refused at home and does not end her session", async () => {
  const { port } = alone({ limits: { pending: 1 } });
  const first = port.ask("x", null);
  await assert.rejects(port.ask("y", null), { code: "rateLimited" });
  port.feed(encoder.encode("[-1,null,1]\n"));
  assert.equal(await first, 1);
});

Deno.test("what bob would have to refuse is refused before it is sent, and the session goes on", async () => {
  const { port, written } = alone({ limits: { frameBytes: 200, nodes: 20, depth: 4 } });
  let deep: Json = 0;
  for (let i = 0; i < 5; i++) deep = [deep];
  for (const body of ["x".repeat(200), Array<Json>(30).fill(1), deep]) {
    await assert.rejects(port.ask("x", body), { code: "tooLarge" });
    assert.throws(() => port.tell("x", body), { code: "tooLarge" });
  }
  port.ask("x", 1).catch(() => {});
  await Promise.resolve();
  assert.deepEqual(written, ['[1,"x",1]\n']);
});

Deno.test("an answer too large to send reaches the asker as a fault", async () => {
  const { port, feed, written } = alone({
    limits: { frameBytes: 200 },
    handler: { ask: () => "x".repeat(300) },
  });
  feed('[1,"x",null]\n');
  await Promise.resolve();
  assert.match(written[0] ?? "", /^\[-1,"tooLarge",/);
  port.close("done");
});

Deno.test("an event that its handler refuses ends the session: nobody could be told", async () => {
  const refuse = (): never => {
    throw new Fault("badFrame", "Cannot take event: unknown");
  };
  const { port, feed } = alone({ handler: { tell: refuse } });
  feed('[0,"x",null]\n');
  await closesWith(port, "badFrame");
});

Deno.test("a peer that cannot be written to ends the session", async () => {
  const port = makePort({
    write: () => {
      throw new Error("broken pipe");
    },
    handler: { ask: () => null, tell(): void {} },
  });
  await assert.rejects(port.ask("x", null), { code: "gone" });
  await closesWith(port, "gone");
});
