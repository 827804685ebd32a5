import assert from "node:assert/strict";
import { besiege, type Watched } from "../../fake/siege.ts";

const STORES: Readonly<Record<string, readonly [write: string, read: string]>> = {
  localStorage: [`localStorage.setItem("k", "secret")`, `localStorage.getItem("k")`],
  sessionStorage: [`sessionStorage.setItem("k", "secret")`, `sessionStorage.getItem("k")`],
  caches: [
    `await (await caches.open("c")).put("http://x/", new Response("secret"))`,
    `await (await (await caches.open("c")).match("http://x/")).text()`,
  ],
  kv: [
    `await (await Deno.openKv()).set(["k"], "secret")`,
    `(await (await Deno.openKv()).get(["k"])).value`,
  ],
  global: [`globalThis.left = "secret"`, `globalThis.left`],
  prototype: [`Object.prototype.left = "secret"`, `({}).left`],
};

/** Says in each store's name what it found; keeps writing to a channel, or listens to it. */
const program = (work: string): string =>
  `({ async turn(ports, message) {
  const told = {}; const Async = (async () => {}).constructor;
  for (const [name, pair] of Object.entries(${JSON.stringify(STORES)})) {
    told[name] = String(await new Async("return " + pair[${work}])().catch((e) => e.name));
  }
  const channel = new (globalThis.BroadcastChannel ?? class { postMessage() {} })("c");
  channel.onmessage = ({ data }) => { told.channel = data; };
  for (let i = 0; i < 20; i++) { if (${work} === 0) channel.postMessage("secret"); await new Promise((r) => setTimeout(r, 10)); }
  return { stop: "answered", text: JSON.stringify(told) };
} })`;

Deno.test("two tasks' workers would have passed a secret through storage that both can reach", async () => {
  await besiege(async (siege) => {
    const answer = async (task: Watched): Promise<string> => {
      assert.equal((await task.end).status, "done");
      return String((await task.task())["answer"]);
    };
    const writers = await Promise.all([0, 1].map(() => siege.run({ program: program("0") })));
    const readers = await Promise.all([0, 1].map(() => siege.run({ program: program("1") })));
    const wrote = await Promise.all(writers.map(answer));
    // Both were alive at once, and a worker that is started afterwards finds nothing either.
    const found = await Promise.all(
      [...readers, await siege.run({ program: program("1") })].map(answer),
    );
    assert.equal(wrote.length + found.length, 5);
    for (const each of found) assert.equal(each.includes("secret"), false, each);
  });
});
