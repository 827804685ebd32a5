import assert from "node:assert/strict";
import { serveLoopback } from "../../../models/_fixture/providers/server.ts";
import { findPrograms } from "../../../launch/program/programs_powers.ts";
import { needs } from "../../needs.ts";
import { reasonOf, think, withServices } from "./_models.ts";

/** What mallory's program in a model service's place tries; `$…` is filled in by the test. */
const TRIES: Readonly<Record<string, string>> = {
  "its own origin": `(await fetch("$OWN/own")).status`,
  "another port of its host": `(await fetch("$OTHER/other")).status`,
  "another port by a connection":
    `(await Deno.connect({ hostname: "127.0.0.1", port: $PORT })).localAddr`,
  "another port by node:net":
    `await new Promise(async (yes, no) => (await import("node:net")).connect($PORT, "127.0.0.1").on("connect", yes).on("error", no))`,
  "its host by another name": `(await fetch("http://localhost:$PORT/name")).status`,
  "its own port by another name": `(await fetch("http://localhost:$OWNPORT/name")).status`,
  "its host by another number": `(await fetch("http://127.0.0.2:$OWNPORT/number")).status`,
  "any address": `(await fetch("http://0.0.0.0:$PORT/any")).status`,
  "another host": `(await fetch("http://example.com/")).status`,
  "the net, through a redirect of its own origin":
    `(await fetch("$OWN/away")).text().then((t) => t === "trapped" ? t : Promise.reject(new Error()))`,
  "a listener": `Deno.listen({ port: 0 }).addr`,
  "a name by its own resolver":
    `await Deno.resolveDns("localhost", "A", { nameServer: { ipAddr: "127.0.0.1", port: $PORT } })`,
  "the control socket": `(await Deno.connect({ transport: "unix", path: "$SOCKET" })).localAddr`,
  "the control socket by node:net":
    `await new Promise(async (yes, no) => (await import("node:net")).connect("$SOCKET").on("connect", yes).on("error", no))`,
  "the control socket by fetch":
    `await (await fetch("http://x/", { client: Deno.createHttpClient({ proxy: { transport: "unix", path: "$SOCKET" } }) })).text()`,
  "a proxy":
    `await (await fetch("http://example.com/", { client: Deno.createHttpClient({ proxy: { url: "$OTHER" } }) })).text()`,
  "a web socket":
    `await new Promise((yes, no) => { const s = new WebSocket("ws://127.0.0.1:$PORT"); s.onopen = yes; s.onerror = () => no(new Error()); })`,
  "a file": `Deno.readTextFileSync("/etc/hostname")`,
  "the state": `[...Deno.readDirSync("$STATE")].length`,
  "a file of the person's": `Deno.readTextFileSync("$DESK/notes/plan.md")`,
  "a file through node:fs": `(await import("node:fs")).readFileSync("/etc/passwd", "utf8")`,
  "a database": `new (await import("node:sqlite")).DatabaseSync("$STATE/remit.db")`,
  "writing": `Deno.writeTextFileSync("/tmp/mallory-$PORT", "x")`,
  "the environment": `Object.keys(Deno.env.toObject()).length || undefined.x`,
  "a variable": `Deno.env.get("HOME").length`,
  "node's environment": `(await import("node:process")).default.env.HOME.length`,
  "a program": `new Deno.Command("/bin/true").outputSync().code`,
  "a library": `Deno.dlopen("/lib/x86_64-linux-gnu/libc.so.6", {})`,
  "the machine's name": `Deno.hostname()`,
  "memory of the machine": `Deno.systemMemoryInfo().total`,
  "a signal to the kernel": `Deno.kill($KERNEL, "SIGTERM") ?? "sent"`,
  "code of the net": `await import("$OTHER/code.js")`,
  "what others kept": `localStorage.setItem("a", "b") ?? "kept"`,
};

/** Serves a model whose one answer says what came of the tries. */
const program = (tries: string): string => `
const { stdin, stdout } = Deno; const enc = new TextEncoder(), dec = new TextDecoder();
for (const event of ["unhandledrejection", "error"]) addEventListener(event, (e) => e.preventDefault());
const send = (frame) => { const b = enc.encode(JSON.stringify(frame) + "\\n"); for (let n = 0; n < b.length;) n += stdout.writeSync(b.subarray(n)); };
const Async = (async () => {}).constructor;
const attempt = async () => { const told = {};
  for (const [name, source] of Object.entries(${tries})) {
    const late = new Promise((_, no) => setTimeout(() => no(new Error("late")), 1_000));
    let making; try { making = new Async("return " + source)(); } catch (e) { making = Promise.reject(e); }
    told[name] = await Promise.race([making, late]).then((v) => "got " + String(v).slice(0, 99), (e) => "no " + e.name + " " + String(e.message).slice(0, 80));
  }
  return told; };
const serve = async ([id, op, body]) => {
  if (id === 0) return;
  if (op === "open") return send([-id, null, { id: "m", displayName: "m", arch: "none", backend: "mallory", contextTokens: 1000000, outputTokens: 10000, supportsTools: true, remote: false }]);
  send([-id, null, { message: { role: "assistant", content: JSON.stringify(await attempt()), provenance: { origin: "model", source: "m", colour: "BLUE", label: "public" } }, usage: { inputTokens: 1, outputTokens: 1 }, finishReason: "stop" }]);
};
const chunk = new Uint8Array(65536); let rest = "";
for (;;) { const n = await stdin.read(chunk); if (n === null) Deno.exit(0);
  rest += dec.decode(chunk.subarray(0, n), { stream: true }); let i;
  while ((i = rest.indexOf("\\n")) >= 0) { const line = rest.slice(0, i); rest = rest.slice(i + 1); serve(JSON.parse(line)); } }
`;

for (const walled of [true, false]) {
  const how = walled ? "under bubblewrap" : "by Deno's flags alone";
  Deno.test(`mallory's code in a model service would have reached more than its one origin, ${how}`, async () => {
    if (walled && !needs("bwrap")) return;
    await using trap = serveLoopback(() => ({ pieces: ["trapped"] }));
    await using own = serveLoopback(({ path }) =>
      path === "/away"
        ? { status: 302, headers: { location: `${trap.origin}/away` }, pieces: [] }
        : { pieces: ["ok"] }
    );
    const folder = await Deno.makeTempDir({ prefix: "remit-walls-" });
    const remote = `${folder}/remote.js`;
    await Deno.writeTextFile(remote, "");
    const { bwrap: _, ...bare } = await findPrograms();
    try {
      await withServices(async (siege) => {
        const port = (origin: string): string => new URL(origin).port;
        const filled = Object.entries({
          $OWNPORT: port(own.origin),
          $OWN: own.origin,
          $OTHER: trap.origin,
          $PORT: port(trap.origin),
          $SOCKET: siege.config.controlSocket,
          $STATE: siege.config.dir,
          $DESK: siege.desk,
          $KERNEL: String(siege.pid),
        }).reduce((text, [name, value]) => text.replaceAll(name, value), JSON.stringify(TRIES));
        await Deno.writeTextFile(remote, program(filled));
        const config = { model: "m", url: `${own.origin}/v1` };
        const task = await think(siege, { ref: "openai:m", config });
        assert.equal((await task.end).exit, 0, await reasonOf(task));
        const told: Record<string, string> = JSON.parse(String((await task.task())["answer"]));
        assert.equal(Object.keys(told).length, Object.keys(TRIES).length);
        const { "its own origin": reached, ...rest } = told;
        assert.equal(reached, "got 200");
        for (const [name, came] of Object.entries(rest)) assert.match(came, /^no /, name);
        // It was refused, and did not only fail.
        const refused = Object.values(rest).filter((came) => came.startsWith("no NotCapable"));
        assert.ok(refused.length >= 24, `${refused.length} of ${Object.keys(rest).length}`);
        // The kernel lives, and its next task is nobody's business.
        const bob = await siege.run({ turns: "  - say: Still here." });
        assert.equal((await bob.end).exit, 0);
      }, { bundles: { remote }, ...(walled ? {} : { programs: bare }) });
      assert.deepEqual(trap.received, []);
      assert.ok(own.received.length > 0);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
