import assert from "node:assert/strict";
import { attack } from "../_beside.ts";

/** What a program without any right might try to reach the machine with. */
const TRIES: Readonly<Record<string, string>> = {
  "read a file": `Deno.readTextFileSync("/etc/hostname")`,
  "read through node:fs": `(await import("node:fs")).readFileSync("/etc/hostname", "utf8")`,
  "read a file descriptor": `(await import("node:fs")).readSync(3, new Uint8Array(10))`,
  "list a folder": `[...Deno.readDirSync("/")].length`,
  "ask where its state lies": `Deno.cwd().replace(/^\\/$/, "") || undefined.x`,
  "write a file": `Deno.writeTextFileSync("/tmp/mallory", "x")`,
  "make a temporary file": `Deno.makeTempFileSync()`,
  "read the environment": `Deno.env.get("HOME")`,
  "list the environment": `Object.keys(Deno.env.toObject()).length`,
  "read node's environment": `(await import("node:process")).default.env.HOME.length`,
  "fetch": `(await fetch("http://127.0.0.1:$PORT/")).status`,
  "connect": `(await Deno.connect({ port: $PORT })).localAddr`,
  "connect through node:net":
    `await new Promise(async (yes, no) => (await import("node:net")).connect($PORT, "127.0.0.1").on("connect", yes).on("error", no))`,
  "reach the control socket":
    `(await Deno.connect({ transport: "unix", path: "$SOCKET" })).localAddr`,
  "reach it through node:net":
    `await new Promise(async (yes, no) => (await import("node:net")).connect("$SOCKET").on("connect", yes).on("error", no))`,
  "open a web socket":
    `await new Promise((yes, no) => { const s = new WebSocket("ws://127.0.0.1:$PORT"); s.onopen = yes; s.onerror = () => no(new Error()); })`,
  "resolve a name": `await Deno.resolveDns("localhost", "A")`,
  "listen": `Deno.listen({ port: 0 }).addr`,
  "serve": `Deno.serve({ port: 0 }, () => new Response()).addr`,
  "start a program": `new Deno.Command("/bin/true").outputSync().code`,
  "load a library": `Deno.dlopen("/lib/x86_64-linux-gnu/libc.so.6", {})`,
  "load a node addon": `(await import("node:module")).createRequire("file:///x.js")("/tmp/x.node")`,
  "open a database": `new (await import("node:sqlite")).DatabaseSync("$STATE/remit.db")`,
  "open the key-value store": `await Deno.openKv("$STATE/kv")`,
  "read the machine's name": `Deno.hostname()`,
  "read the user's number": `Deno.uid()`,
  "read memory of the machine": `Deno.systemMemoryInfo().total`,
  "ask for a right":
    `(await Deno.permissions.request({ name: "read" })).state.replace("denied", "") || undefined.x`,
  "start a thread with rights":
    `await new Promise((yes, no) => { const w = new Worker("data:text/javascript,postMessage(Deno.readTextFileSync('/etc/hostname'))", { type: "module", deno: { permissions: "inherit" } }); w.onmessage = yes; w.onerror = (e) => { e.preventDefault(); no(new Error()); }; })`,
};

Deno.test("mallory's program would have reached files, network, programs and libraries", async () => {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => undefined },
    () => new Response("reached"),
  );
  const socket = await Deno.makeTempDir();
  const listener = Deno.listen({ transport: "unix", path: `${socket}/s` });
  const reached = listener.accept().then(() => true, () => false);
  try {
    const tries = JSON.stringify(TRIES).replaceAll("$PORT", String(server.addr.port))
      .replaceAll("$SOCKET", `${socket}/s`).replaceAll("$STATE", socket);
    await attack(
      `for (const event of ["unhandledrejection", "error"]) addEventListener(event, (e) => e.preventDefault());
       const told = {}; const Async = (async () => {}).constructor;
       for (const [name, source] of Object.entries(${tries})) {
         const late = new Promise((_, no) => setTimeout(() => no(new Error("late")), 1_000));
         told[name] = await Promise.race([new Async("return " + source)(), late]).then((v) => "got " + String(v).slice(0, 99), (e) => "no " + e.name);
       }
       return { stop: "answered", text: JSON.stringify(told) };`,
      async ({ mallory }) => {
        assert.equal((await mallory.end).status, "done", String((await mallory.task())["reason"]));
        const told = JSON.parse(String((await mallory.task())["answer"])) as Record<string, string>;
        assert.deepEqual(Object.keys(told), Object.keys(TRIES));
        assert.deepEqual(Object.entries(told).filter(([, value]) => !value.startsWith("no ")), []);
      },
    );
    listener.close();
    assert.equal(await reached, false);
  } finally {
    await server.shutdown();
    await Deno.remove(socket, { recursive: true });
  }
});
