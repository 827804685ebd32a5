/**
 * A hostile program's attempts inside a child: name and the body of an async function. `$ROOT` is a
 * mount, `$PORT` a listening port of the machine. Run by walls_test.ts; verdicts in
 * walls_expected.json.
 * @module
 */

/** Each attempt: it succeeds when it returns. */
export const PROBES: Readonly<Record<string, string>> = {
  "env one": `return Deno.env.get("HOME")`,
  "env all": `return Object.keys(Deno.env.toObject()).length`,
  "env by node": `return (await import("node:process")).default.env.HOME.length`,
  "env OTEL": `return Deno.env.get("OTEL_EXPORTER_OTLP_ENDPOINT")`,
  "hostname": `return Deno.hostname()`,
  "load average": `return Deno.loadavg().length`,
  "memory of the system": `return Deno.systemMemoryInfo().total`,
  "uid": `return Deno.uid()`,
  "network interfaces": `return Deno.networkInterfaces().length`,
  "user by node": `return (await import("node:os")).userInfo().username`,
  "hostname by node": `return (await import("node:os")).hostname()`,
  "path of the executable": `return Deno.execPath()`,
  "working folder": `return Deno.cwd()`,
  "change folder": `Deno.chdir("/")`,
  "own source": `return Deno.readTextFileSync(new URL(Deno.mainModule)).length`,
  "read /etc/passwd": `return Deno.readTextFileSync("/etc/passwd").length`,
  "read by node": `return (await import("node:fs")).readFileSync("/etc/passwd").length`,
  "read by fetch": `return (await (await fetch("file:///etc/passwd")).text()).length`,
  "read /proc/self/environ": `return Deno.readTextFileSync("/proc/self/environ").length`,
  "read /proc/self/cmdline": `return Deno.readTextFileSync("/proc/self/cmdline").length`,
  "read /dev/fd/0": `return Deno.openSync("/dev/fd/0").rid`,
  "read /dev/mem": `return Deno.openSync("/dev/mem").rid`,
  "list /": `return [...Deno.readDirSync("/")].length`,
  "list /proc": `return [...Deno.readDirSync("/proc")].length`,
  "stat /etc": `return Deno.statSync("/etc").isDirectory`,
  "stat of the broker's socket": `return Deno.statSync("/run/broker.sock").isSocket`,
  "write a file here": `Deno.writeTextFileSync("./x", "x")`,
  "write in /tmp": `Deno.writeTextFileSync("/tmp/x", "x")`,
  "make a temporary file": `return Deno.makeTempFileSync()`,
  "write by node": `(await import("node:fs")).writeFileSync("/tmp/x", "x")`,
  "read its mount without a call": `return Deno.readTextFileSync("$ROOT/notes/a.md").length`,
  "write its mount without a call": `Deno.writeTextFileSync("$ROOT/notes/a.md", "x")`,
  "link to a folder outside": `Deno.symlinkSync("/etc", "$ROOT/x")`,
  "run a program": `return new Deno.Command("/bin/true").outputSync().code`,
  "run by node": `return (await import("node:child_process")).execSync("id").length`,
  "fork by node": `return (await import("node:cluster")).default.fork().id`,
  "kill its parent": `Deno.kill(Deno.ppid, "SIGCONT")`,
  "kill everyone by node": `return (await import("node:process")).default.kill(-1, 0)`,
  "native library": `Deno.dlopen("libc.so.6", { getpid: { parameters: [], result: "i32" } })`,
  "native add-on": `(await import("node:module")).createRequire("file:///")("/tmp/x.node")`,
  "fetch this machine": `return (await fetch("http://127.0.0.1:$PORT/")).status`,
  "fetch 0": `return (await fetch("http://0:$PORT/")).status`,
  "connect": `return (await Deno.connect({ port: $PORT, hostname: "127.0.0.1" })).rid`,
  "connect by node": `const net = await import("node:net");
    return await new Promise((yes, no) => net.connect($PORT, "127.0.0.1").on("connect", () => yes(1)).on("error", no))`,
  "connect to a unix socket":
    `return (await Deno.connect({ transport: "unix", path: "/run/broker.sock" })).rid`,
  "listen": `return Deno.listen({ port: 0 }).addr.port`,
  "serve": `return Deno.serve({ port: 0, onListen() {} }, () => new Response("")).addr.port`,
  "datagram": `return Deno.listenDatagram({ port: 0, transport: "udp" }).addr.port`,
  "web socket":
    `return await new Promise((yes, no) => { const w = new WebSocket("ws://127.0.0.1:$PORT/");
    w.onopen = () => yes(1); w.onerror = (e) => no(e.error ?? new Error(e.message)); })`,
  "resolve a name": `return (await Deno.resolveDns("localhost", "A")).length`,
  "resolve by node": `return (await import("node:dns/promises")).lookup("localhost")`,
  "import over http": `const u = "http://127.0.0.1:$PORT/m.js"; return (await import(u)).default`,
  "import npm": `const u = "npm:is-odd@3.0.1"; return (await import(u)).default`,
  "import jsr": `const u = "jsr:@std/path"; return (await import(u)).default`,
  "import a file":
    `const u = "file:///etc/passwd"; return (await import(u, { with: { type: "text" } })).default.length`,
  "import JSON":
    `const u = "file://$ROOT/x.json"; return (await import(u, { with: { type: "json" } })).default`,
  "require a file":
    `return (await import("node:module")).createRequire("file:///")("$ROOT/x.json")`,
  "import data": `return (await import("data:text/javascript,export default 42")).default`,
  "localStorage": `localStorage.setItem("a", "1"); return localStorage.getItem("a")`,
  "sessionStorage": `sessionStorage.setItem("a", "1"); return sessionStorage.getItem("a")`,
  "caches": `await caches.open("v1"); return "opened"`,
  "KV": `return await Deno.openKv() && "opened"`,
  "database in memory":
    `new (await import("node:sqlite")).DatabaseSync(":memory:"); return "opened"`,
  "database in a file":
    `new (await import("node:sqlite")).DatabaseSync("/tmp/x.db"); return "opened"`,
  "database attached":
    `new (await import("node:sqlite")).DatabaseSync(":memory:").exec("ATTACH '/tmp/y.db' AS a; CREATE TABLE a.t(x)")`,
  "database extension":
    `new (await import("node:sqlite")).DatabaseSync(":memory:", { allowExtension: true }).loadExtension("/tmp/x")`,
  "thread that inherits":
    `return await new Promise((yes, no) => { const w = new Worker("data:text/javascript,try { postMessage(Deno.readTextFileSync('/etc/passwd').length) } catch (e) { postMessage('!' + e.name) }", { type: "module" });
    w.onmessage = (e) => String(e.data).startsWith("!") ? no(new Deno.errors.NotCapable(e.data)) : yes(e.data); w.onerror = (e) => { e.preventDefault(); no(new Error(e.message)); }; })`,
  "thread by node": `const { Worker } = await import("node:worker_threads");
    return await new Promise((yes, no) => { const w = new Worker("require('worker_threads').parentPort.postMessage(require('fs').readFileSync('/etc/passwd').length)", { eval: true }); w.on("message", yes); w.on("error", no); })`,
  "permission asked for":
    `const { state } = await Deno.permissions.request({ name: "read", path: "/etc" });
    if (state !== "granted") throw new Deno.errors.NotCapable(state)`,
  "raise its own heap": `(await import("node:v8")).setFlagsFromString("--max-old-space-size=8192")`,
  "inspector": `new (await import("node:inspector")).Session().connect(); return "session"`,
  "inspector listens": `(await import("node:inspector")).open(0); return "open"`,
  "bindings": `return typeof (await import("node:process")).default.binding("fs").open`,
  "signal listener": `Deno.addSignalListener("SIGTERM", () => {}); return "added"`,
  "graphics":
    `const a = await navigator.gpu?.requestAdapter(); if (!a) throw new Error("none"); return "adapter"`,
};
