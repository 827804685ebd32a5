import assert from "node:assert/strict";
import type { Json } from "../contracts/base/json.ts";
import type { Port } from "../contracts/base/port.ts";
import { makeQuiet } from "./quiet.ts";

function deferred(): PromiseWithResolvers<Json> {
  return Promise.withResolvers<Json>();
}

Deno.test("alice's host that has answered everything waits in the read", async () => {
  const quiet = makeQuiet();
  assert.equal(await quiet.settled(), true);
  const call = deferred();
  const handler = quiet.serving({ ask: () => call.promise, tell: () => undefined });
  const answer = handler.ask("call", null);
  call.resolve("done");
  assert.equal(await quiet.settled(), true);
  assert.equal(await answer, "done");
});

Deno.test("a module that compiles on another thread is not waited for in the read", async () => {
  const quiet = makeQuiet();
  const compile = deferred();
  const handler = quiet.serving({ ask: () => compile.promise, tell: () => undefined });
  const answer = handler.ask("load", null);
  assert.equal(await quiet.settled(), false);
  compile.resolve(null);
  await answer;
  assert.equal(await quiet.settled(), true);
});

Deno.test("a call that asked the kernel waits in the read, and one beside it that compiles does not", async () => {
  const quiet = makeQuiet();
  const kernel = deferred(), compile = deferred();
  const port: Pick<Port, "ask"> = quiet.asking({ ask: () => kernel.promise });
  const handler = quiet.serving({
    ask: (op) => op === "load" ? compile.promise : port.ask("host", null),
    tell: () => undefined,
  });
  const call = handler.ask("call", null);
  assert.equal(await quiet.settled(), true);
  const load = handler.ask("load", null);
  assert.equal(await quiet.settled(), false);
  compile.resolve(null);
  kernel.resolve("served");
  await load;
  assert.equal(await call, "served");
  assert.equal(await quiet.settled(), true);
});

Deno.test("a request that fails counts as answered", async () => {
  const quiet = makeQuiet();
  const handler = quiet.serving({
    ask: () => Promise.reject(new TypeError("broken")),
    tell: () => undefined,
  });
  await assert.rejects(async () => await handler.ask("call", null), /broken/);
  assert.equal(await quiet.settled(), true);
});
