import { equal, ok, rejects } from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { Fault } from "../../contracts/base/fault.ts";
import { connectSocket } from "./socket_powers.ts";

/** A kernel that listens and ends, two hundred times, in a thread of its own. */
const ENDING = `onmessage = async ({ data: path }) => {
  for (let i = 0; i < 200; i++) {
    const kernel = Deno.listen({ transport: "unix", path });
    await new Promise((resolve) => setTimeout(resolve, 0));
    kernel.close();
    try { Deno.removeSync(path); } catch {}
  }
  postMessage("over");
}`;

Deno.test("a kernel that ends while a command connects to it is as none, and no error of the system's", async () => {
  const dir = await Deno.makeTempDir({ prefix: "remit-socket-" });
  const path = `${dir}/c`;
  const thread = new Worker(`data:text/javascript,${encodeURIComponent(ENDING)}`, {
    type: "module",
  });
  try {
    const over = new Promise((resolve) => thread.onmessage = resolve);
    let ended = false;
    void over.then(() => ended = true);
    thread.postMessage(path);
    // Some of these are taken into the queue of a listener that is closed then.
    while (!ended) (await connectSocket(path))?.close();
    await over;
    equal(await connectSocket(path), undefined);
  } finally {
    thread.terminate();
    await Deno.remove(dir, { recursive: true });
  }
});

/** A listener that takes nobody, and whose queue is full. */
async function crowd(): Promise<AsyncDisposable & { path: string; listener: Deno.UnixListener }> {
  const dir = await Deno.makeTempDir({ prefix: "remit-socket-" });
  const path = `${dir}/c`;
  const listener = Deno.listen({ transport: "unix", path });
  const waiting: Socket[] = [];
  for (;;) {
    const socket = connect(path);
    waiting.push(socket);
    const why = await endOf(socket);
    if (why === "EAGAIN") break;
    equal(why, undefined);
  }
  return {
    ...{ path, listener },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const socket of waiting) socket.destroy();
      listener.close();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

/** Undefined for one that was connected. */
function endOf(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    socket.on("error", (error: Error & { code?: string }) => resolve(error.code ?? error.message));
    socket.once("connect", () => resolve(undefined));
  });
}

Deno.test("a command that finds too many others before it waits for its turn", async () => {
  await using met = await crowd();
  const asked = connectSocket(met.path, { patienceMs: 600_000 });
  // Whoever tries later than it finds no place either: it has met the crowd.
  equal(await endOf(connect(met.path)), "EAGAIN");
  const taken = await met.listener.accept();
  const wire = await asked;
  ok(wire !== undefined);
  wire.close();
  taken.close();
});

Deno.test("a command that nobody takes says that too many wait, and what to do", async () => {
  await using met = await crowd();
  await rejects(connectSocket(met.path, { patienceMs: 0 }), (error) => {
    ok(error instanceof Fault);
    equal(error.code, "unavailable");
    ok(/more commands wait there than it takes.*try again in a moment/.test(error.message));
    return true;
  });
});
