import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { fakeKernel } from "../../cli/_fixture/world.ts";
import { greet } from "./link.ts";
import { connectSocket } from "./socket_powers.ts";

Deno.test("a session carries requests, answers, faults and events", async () => {
  const { link, kernel } = await fakeKernel({
    tasks: () => ["t"],
    undo: () => {
      throw new Fault("conflict", "Cannot undo: it changed");
    },
  });
  assert.deepEqual(await link.ask("tasks", {}), ["t"]);
  await assert.rejects(
    link.ask("undo", {}),
    (error: unknown) => error instanceof Fault && error.code === "conflict",
  );
  const heard: [string, Json][] = [];
  kernel.end("done", 0);
  await link.ask("tasks", {});
  // What came before anybody listened is not lost.
  link.onTell((op, body) => heard.push([op, body]));
  assert.equal(heard[0]?.[0], "end");
});

Deno.test("nobody at the socket is no kernel; a stale socket file is none either", async () => {
  const folder = Deno.makeTempDirSync();
  assert.equal(await connectSocket(join(folder, "none")), undefined);
  const path = join(folder, "stale");
  const listener = Deno.listen({ transport: "unix", path });
  listener.close();
  Deno.writeTextFileSync(join(folder, "file"), "");
  assert.equal(await connectSocket(path), undefined);
  assert.equal(await connectSocket(join(folder, "file")), undefined);
});

Deno.test("a kernel of another version is refused with how to end it", async () => {
  const path = join(Deno.makeTempDirSync(), "k");
  const listener = Deno.listen({ transport: "unix", path });
  const serving = (async () => {
    const connection = await listener.accept();
    await connection.read(new Uint8Array(4_096));
    const welcome = { version: 99, harness: "h", pid: 1, receiptKey: "k", head: "x" };
    await connection.write(new TextEncoder().encode(`[-1,null,${JSON.stringify(welcome)}]\n`));
    await connection.read(new Uint8Array(1));
    connection.close();
  })();
  const wire = await connectSocket(path);
  assert.ok(wire !== undefined);
  await assert.rejects(greet(wire, "h"), /another version.*remit stop/);
  await serving;
  listener.close();
});

Deno.test("a kernel that ends is gone for whoever waits", async () => {
  const path = join(Deno.makeTempDirSync(), "k");
  const listener = Deno.listen({ transport: "unix", path });
  const serving = listener.accept().then((connection) => connection.close());
  const wire = await connectSocket(path);
  assert.ok(wire !== undefined);
  await assert.rejects(
    greet(wire, "h"),
    (error: unknown) => error instanceof Fault && error.code === "gone",
  );
  await serving;
  listener.close();
});
