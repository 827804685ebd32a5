import { equal } from "node:assert/strict";
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
