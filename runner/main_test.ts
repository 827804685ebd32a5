import assert from "node:assert/strict";
import { Fault } from "../contracts/base/fault.ts";
import { bundled, startChild } from "../port/_fixture/bundled_child.ts";
import type { PipedChild } from "../port/_fixture/piped_child.ts";
import { askTurn, callOf, type Moves, pretendKernel, reply, startBody } from "./_fixture/bench.ts";

/** Bytes: everything in a worker is read by whoever audits it. A fifth of it is the interpreter of planned programs. */
const MAX_BYTES = 54_000;

function start(file: string, moves: Moves): PipedChild {
  return startChild(file, pretendKernel(moves).handler);
}

Deno.test("a real worker without any permission", async (t) => {
  await using built = await bundled(new URL("./main.ts", import.meta.url));

  await t.step("is small and has no schema library in it", async () => {
    const source = await Deno.readTextFile(built.file);
    assert.ok(source.length < MAX_BYTES, `${source.length} bytes`);
    assert.ok(!/zod|safeParse/.test(source));
  });

  await t.step("runs a turn with a call", async () => {
    const moves: Moves = {
      infer: (_, n) => n === 0 ? reply("I look.", [callOf("c1")]) : reply("Done."),
    };
    await using worker = start(built.file, moves);
    await worker.port.ask("start", startBody(moves));
    assert.deepEqual(await askTurn(worker.port, "go"), { stop: "answered", text: "Done." });
  });

  await t.step("says nothing before it is asked, though it warmed itself", async () => {
    const moves: Moves = { infer: () => reply("fresh") };
    await using worker = start(built.file, moves);
    await worker.port.ask("start", startBody(moves));
    // A warm-up that left something behind would show as an earlier turn, or as a second start.
    assert.deepEqual(await askTurn(worker.port, undefined), { stop: "answered", text: "fresh" });
  });

  await t.step("gives a foreign program nothing but its port", async () => {
    const program = `({ turn: async () => {
      const tries = {
        read: () => Deno.readTextFile("/etc/hostname"),
        write: () => Deno.writeTextFile("/tmp/remit-escape", "x"),
        net: () => Deno.connect({ port: 80 }),
        fetch: () => fetch("http://127.0.0.1/"),
        run: () => new Deno.Command("/bin/true").output(),
        env: async () => Deno.env.get("HOME"),
        sys: async () => Deno.hostname(),
        ffi: async () => Deno.dlopen("libc.so.6", {}),
        file: () => import("file:///etc/hostname"),
        worker: async () => new Worker("data:,"),
        storage: async () => localStorage.setItem("a", "b"),
        channel: async () => new BroadcastChannel("a"),
      };
      const verdicts = [];
      for (const [name, go] of Object.entries(tries)) {
        const verdict = await (async () => go())().then(() => "done", (error) =>
          /Requires \\w+ access/.test(error.message) ? "refused" : error.name);
        verdicts.push(name + " " + verdict);
      }
      return { stop: "answered", text: verdicts.join() };
    } })`;
    const moves: Moves = { infer: () => reply(""), program };
    await using worker = start(built.file, moves);
    await worker.port.ask("start", startBody(moves));
    const { text } = await askTurn(worker.port, "go");
    assert.deepEqual(text.split(","), [
      "read refused",
      "write refused",
      "net refused",
      "fetch refused",
      "run refused",
      "env refused",
      "sys refused",
      "ffi refused",
      "file refused",
      "worker ReferenceError",
      "storage ReferenceError",
      "channel ReferenceError",
    ]);
  });

  await t.step("passes a foreign program's syntax error on as a fault, and lives on", async () => {
    const moves: Moves = { infer: () => reply("hello") };
    await using worker = start(built.file, moves);
    await assert.rejects(
      worker.port.ask("start", startBody({ ...moves, program: "(" })),
      (error) => error instanceof Fault && error.code === "invalidInput",
    );
    await worker.port.ask("start", startBody(moves));
    assert.equal((await askTurn(worker.port, "go")).text, "hello");
  });

  await t.step("ends by itself, with 0, when the kernel hangs up", async () => {
    const moves: Moves = { infer: () => reply("hello") };
    await using worker = start(built.file, moves);
    await worker.port.ask("start", startBody(moves));
    assert.equal(await worker.hangUp(), 0);
  });
});
