import { deepEqual, doesNotMatch, equal, match, ok, rejects } from "node:assert/strict";
import { Fault } from "../contracts/base/fault.ts";
import { hangAfter, reply, startSite } from "../net/_fixture/site.ts";
import { HAS_CHROMIUM, startBrowser, startOpenBrowser } from "./_fixture/engine.ts";
import { processesOf, runs } from "./_fixture/processes.ts";
import { idOf, refOf, startWeb } from "./_fixture/web.ts";

const test = (name: string, fn: () => Promise<void>): void =>
  Deno.test({ name, fn, ignore: !HAS_CHROMIUM });

/** A page that tries every way out to a listener that is really there. */
const leaks = (to: string): string => {
  const { port } = new URL(to);
  return `<link rel="preconnect" href="${to}/"><link rel="dns-prefetch" href="//leak.example">
<link rel="prefetch" href="${to}/prefetch"><link rel="preload" as="script" href="${to}/preload">
<link rel="stylesheet" href="${to}/style.css"><script src="${to}/script.js"></script>
<style>@font-face{font-family:x;src:url(${to}/font)}p{font-family:x;background:url(${to}/css)}</style>
<img src="${to}/image"><img srcset="${to}/set 2x"><iframe src="${to}/frame"></iframe>
<iframe src="file:///etc/passwd"></iframe><object data="${to}/object"></object><embed src="${to}/embed">
<video src="${to}/video"></video><audio src="${to}/audio"></audio>
<a id="ping" ping="${to}/ping" href="#x">x</a><p>page</p><div id="done"></div>
<script>
const tried = [];
const attempt = async (name, f) => { try { const v = await Promise.race([f(), new Promise((r) => setTimeout(r, 1500, "waits"))]); tried.push(name + "=" + v); } catch (e) { tried.push(name + "!" + e.name); } };
Promise.all([
  attempt("fetch", async () => (await fetch("${to}/fetch")).status),
  attempt("nocors", async () => (await fetch("${to}/nocors", { mode: "no-cors" })).type),
  attempt("post", async () => (await fetch("/own", { method: "POST", body: "secret" })).status),
  attempt("put", async () => (await fetch("/own", { method: "PUT", body: "secret" })).status),
  attempt("beacon", async () => navigator.sendBeacon("${to}/beacon", "x")),
  attempt("ownbeacon", async () => navigator.sendBeacon("/own", "x")),
  attempt("xhr", () => new Promise((ok, no) => { const x = new XMLHttpRequest(); x.onload = () => ok(x.status); x.onerror = () => no(new Error("x")); x.open("GET", "${to}/xhr"); x.send(); })),
  attempt("socket", () => new Promise((ok, no) => { const s = new WebSocket("ws://127.0.0.1:${port}/socket"); s.onopen = () => ok("open"); s.onerror = () => no(new Error("x")); })),
  attempt("ownsocket", () => new Promise((ok, no) => { const s = new WebSocket("ws://" + location.host + "/socket"); s.onopen = () => ok("open"); s.onerror = () => no(new Error("x")); })),
  attempt("source", () => new Promise((ok, no) => { const s = new EventSource("${to}/events"); s.onopen = () => ok("open"); s.onerror = () => no(new Error("x")); })),
  attempt("rtc", () => new Promise(async (ok) => { const c = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:${port}" }, { urls: "turn:127.0.0.1:${port}?transport=tcp", username: "u", credential: "p" }] }); const found = []; c.onicecandidate = (e) => e.candidate ? found.push(e.candidate.type) : ok(found.join()); c.createDataChannel("x"); await c.setLocalDescription(await c.createOffer()); })),
  attempt("transport", async () => { const t = new WebTransport("https://127.0.0.1:${port}/"); await t.ready; return "open"; }),
  attempt("worker", () => new Promise((ok, no) => { const w = new Worker(URL.createObjectURL(new Blob(["fetch('${to}/worker').then(r => postMessage('status' + r.status), e => postMessage('no'))"]))); w.onmessage = (e) => ok(e.data); w.onerror = () => no(new Error("x")); })),
  attempt("service", async () => { await navigator.serviceWorker.register("/worker.js"); return "registered"; }),
  attempt("clipboard", async () => await navigator.clipboard.readText()),
  attempt("copy", async () => { await navigator.clipboard.writeText("x"); return "wrote"; }),
  attempt("place", () => new Promise((ok, no) => navigator.geolocation.getCurrentPosition(() => ok("here"), () => no(new Error("x"))))),
  attempt("notify", async () => await Notification.requestPermission()),
  attempt("files", async () => { await showOpenFilePicker(); return "opened"; }),
  attempt("import", async () => { await import("${to}/module.js"); return "imported"; }),
]).then(() => { document.getElementById("done").textContent = "tried " + tried.join(" "); document.getElementById("ping").click(); });
</script>`;
};

test("mallory's page tries every way out, and nothing of the machine or the network hears it", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const to = `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`;
  // Each connection counts, also one on which nothing is said.
  let connections = 0;
  const accepting = (async () => {
    for await (const connection of listener) {
      connections += 1;
      connection.close();
    }
  })();
  await using web = await startWeb(startBrowser, { "/": leaks(to), "/worker.js": "" });
  const { origin } = web;
  const first = await web.call("browser_open", { url: `${origin}/` });
  match(first, /[0-9]+ requests to [0-9]+ places were not made: /);
  let shown = first;
  let all = first;
  // Its last try gives up after 1,500 ms; a snapshot takes 150 at least.
  for (let n = 0; n < 40 && !shown.includes("tried "); n++) {
    shown = await web.call("browser_snapshot", { url: `${origin}/` });
    all += shown;
  }
  const tried = /tried (.*)/.exec(shown)?.[1] ?? "";
  match(tried, /socket!Error/, shown);
  doesNotMatch(tried, /=(200|open|opaque|wrote|here|granted|opened|imported|status[0-9]+)\b/);
  match(all, /the page wanted to send something, which was not sent: POST \S+\/own/);
  doesNotMatch(all, /root:/);
  equal(connections, 0);
  deepEqual(web.site.seen.filter(({ method }) => method !== "GET"), []);
  listener.close();
  await accepting;
});

test("with a network, the same page is heard: it is the namespace that holds it", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const heard = listener.accept();
  const to = `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`;
  await using web = await startWeb(startOpenBrowser, { "/": leaks(to) });
  await web.call("browser_open", { url: `${web.origin}/` });
  (await heard).close();
});

test("no process of the browser has a network, a right of root's or its sandbox off", async () => {
  await using web = await startWeb(startBrowser, { "/": "<p>hi" });
  await web.call("browser_open", { url: `${web.origin}/` });
  const mine = Deno.readLinkSync("/proc/self/ns/net");
  const all = processesOf(web.engine.osPid);
  const inside = all.filter(({ net }) => net !== mine);
  const chromium = inside.filter(({ command }) => command[0]?.includes("chromium"));
  ok(chromium.length >= 3, JSON.stringify(all.map(({ command }) => command[0])));
  const ours = inside.find(({ command }) => command[0] === "/deno")?.user;
  for (const { interfaces, status, command, user } of inside) {
    deepEqual(interfaces, ["lo"]);
    // In a user namespace of its own, which is how Chromium's sandbox begins, rights are over nothing.
    if (user === ours) equal(Number.parseInt(status["CapEff"] ?? "1", 16), 0, command.join(" "));
  }
  // Outside of the namespace there is nobody but bubblewrap itself.
  const outside = all.filter(({ net }) => net === mine).map(({ command }) => command[0] ?? "");
  ok(outside.every((name) => name.endsWith("bwrap")), outside.join());
  const pages = chromium.filter(({ command }) => command.join(" ").includes("--type=renderer"));
  ok(pages.length > 0);
  for (const { status, user } of pages) {
    ok(user !== ours, "Chromium's sandbox has a namespace of its own");
    equal(Number.parseInt(status["CapEff"] ?? "1", 16), 0);
    equal(status["Seccomp"], "2");
    equal(status["NoNewPrivs"], "1");
  }
  ok(
    !chromium.some(({ command }) => command.some((word) => /no-sandbox|debugging-port/.test(word))),
  );
});

test("mallory's page spins: what ends the browser ends all of it", async () => {
  await using web = await startWeb(startBrowser, {
    "/": "<p>hi",
    "/spin": "<script>new Worker(URL.createObjectURL(new Blob(['for(;;);']))); for (;;);</script>",
  });
  await web.call("browser_open", { url: `${web.origin}/` });
  const all = processesOf(web.engine.osPid).map(({ pid }) => pid);
  ok(all.length > 4);
  const spinning = web.call("browser_open", { url: `${web.origin}/spin` });
  const lost = rejects(spinning, (error) => error instanceof Fault && error.code === "gone");
  // The page itself was asked for: it spins from here on.
  while (web.site.seen.at(-1)?.target !== "/spin") await web.site.next();
  await web.engine[Symbol.asyncDispose]();
  await lost;
  // TIMER: the machine takes a moment to end a namespace; a test that never sees it ends in its timeout.
  while (all.some((pid) => runs(pid))) await new Promise((resolve) => setTimeout(resolve, 10));
});

test("a call that is cancelled ends at once, and the session goes on", async () => {
  await using web = await startWeb(startBrowser, {
    "/": "<p>hi",
    "/slow": hangAfter("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<p>begin"),
  });
  const { origin } = web;
  await web.call("browser_open", { url: `${origin}/` });
  const slow = web.call("browser_open", { url: `${origin}/slow` });
  const lost = rejects(slow, (error) => error instanceof Fault && error.code === "cancelled");
  while (web.site.seen.at(-1)?.target !== "/slow") await web.site.next();
  web.engine.cancel();
  await lost;
  match(await web.call("browser_open", { url: `${origin}/` }), /text: hi$/);
});

test("mallory's pages, each too much of something, are shown in part (long)", async () => {
  const pages = {
    "/deep": "<div>".repeat(100_000) + "deep",
    "/links": "<a href=/x>link </a>".repeat(10_000),
    "/radio": `<form>${"<input type=radio name=a checked><button name=b>x</button>".repeat(5_000)}`,
    "/forms": "<form action=/x><input name=q><button>x</button></form>".repeat(2_000),
    "/labels": "<label>x</label>".repeat(10_000),
    "/windows":
      "<p>x</p><script>for (let i = 0; i < 100; i++) open('https://p.example/' + i)</script>",
    "/alerts": "<p>x</p><script>for (let i = 0; i < 50; i++) alert(i)</script>",
    "/reload": "<p>x</p><script>setTimeout(() => location.reload(), 10)</script>",
    "/names":
      "<form action=/ok><input name=action value=z><input name=method><input name=elements><button>Go</button></form>",
  };
  await using web = await startWeb(startBrowser, pages);
  for (const path of Object.keys(pages)) {
    const shown = await web.call("browser_open", { url: `${web.origin}${path}` });
    match(shown, /^page http/);
    ok(shown.length < 40_000, path);
    if (path === "/names") {
      match(shown, /browser_submit, url \S+\/ok\?action=z&method=&elements=\n?/);
    }
  }
});

test("mallory's page takes all memory: the browser ends, and the machine keeps its own", async () => {
  await using web = await startWeb(startBrowser, {
    "/":
      "<script>const all = []; for (;;) all.push(new Array(1e5).fill({}).map(() => ({})));</script>",
  });
  await rejects(
    web.call("browser_open", { url: `${web.origin}/` }),
    (error) => error instanceof Fault && error.code === "gone",
  );
});

test("mallory's page moves on by itself: to another origin never, and it is said where", async () => {
  await using other = startSite(() => reply(200, { "content-type": "text/html" }, "elsewhere"));
  const page = (script: string): string => `<p>here</p><button onclick="${script}">Go</button>`;
  const away = `${other.origin}/?q=secret`;
  await using web = await startWeb(startBrowser, {
    "/script": page(`location.href='${away}'`),
    "/form": `<p>here</p><form action="${away}" method="post" id="f"><input name="a"></form>${
      page("f.submit()")
    }`,
    "/window": page(`window.open('${away}')`),
    "/meta": `<p>here</p><meta http-equiv="refresh" content="0;url=${away}">`,
    "/file": page("location.href='file:///etc/passwd'"),
    "/source": page("location.href='view-source:http://127.0.0.1/'"),
    "/settings": page("location.href='chrome://settings'"),
    "/data": page("location.href='data:text/html,<p>moved'"),
    "/dialog": page(
      "alert('Press \\u202eyes'); document.querySelector('p').textContent = confirm('sure?')",
    ),
    "/file-chooser": `<input type="file" id="f" style="display:none">${page("f.showPicker()")}`,
    "/hash": page("location.hash='x'; history.pushState(0,'','/made-up')"),
  });
  const { origin } = web;
  const press = async (path: string): Promise<string> => {
    const first = await web.call("browser_open", { url: `${origin}${path}` });
    return await web.call("browser_click", {
      ...{ ref: refOf(first, "Go"), snapshot: idOf(first), url: `${origin}${path}` },
    });
  };
  for (const path of ["/script", "/form", "/window"]) {
    const shown = await press(path);
    match(shown, /text: here/, path);
    ok(shown.includes(`link e1 "the place it leads to" → ${away}`), shown);
    match(shown, new RegExp(`^page ${origin}${path} `));
  }
  match(await web.call("browser_open", { url: `${origin}/meta` }), /was not followed/);
  for (const path of ["/file", "/source", "/settings", "/data"]) {
    const shown = await press(path);
    match(shown, new RegExp(`^page ${origin}${path} `));
    doesNotMatch(shown, /root:|moved|Settings/);
  }
  const dialog = await press("/dialog");
  match(dialog, /note: the page showed a dialog, which was dismissed: "Press yes"/);
  match(dialog, /text: false/);
  match(await press("/hash"), new RegExp(`^page ${origin}/made-up `));
  equal(other.seen.length, 0);
});

test("a page's own requests end with the call: between calls it reaches nothing", async () => {
  await using web = await startWeb(startBrowser, {
    "/":
      `<p id="n">0</p><script>let n = 0; setInterval(() => { fetch("/tick?" + ++n); }, 20)</script>`,
    "/tick": reply(200, {}, "x"),
  });
  await web.call("browser_open", { url: `${web.origin}/` });
  const before = web.site.seen.length;
  // A call that is granted no origin, and takes its time.
  await web.look("browser_screenshot", {});
  await web.look("browser_screenshot", {});
  ok(
    web.site.seen.length - before <= 6,
    "only what was asked before the call ended may still come",
  );
  const later = web.site.seen.length;
  await web.look("browser_screenshot", {});
  equal(web.site.seen.length, later);
});

test("a page stands still between calls", async () => {
  await using web = await startWeb(startBrowser, {
    "/":
      `<p id="n">0</p><script>let was = 0; document.addEventListener("freeze", () => n.textContent = "frozen " + ++was)</script>`,
  });
  await web.call("browser_open", { url: `${web.origin}/` });
  await web.call("browser_snapshot", { url: `${web.origin}/` });
  match(await web.call("browser_snapshot", { url: `${web.origin}/` }), /text: frozen 2$/);
});

test("carol presses a button whose script loads more, and types where there is no form", async () => {
  await using web = await startWeb(startBrowser, {
    "/": `<ul id="l"><li>one</ul><input aria-label="Name" id="i">
<button type="button" onclick="fetch('/more').then(r=>r.json()).then(j=>{l.innerHTML+='<li>'+j.next+' '+i.value})">More</button>
<div onclick="this.textContent='pressed'">Plain</div><div onclick="1"><p>long</p><a href="/x">inner</a></div>`,
    "/more": reply(200, { "content-type": "application/json" }, `{"next":"two"}`),
  });
  const { origin } = web;
  const first = await web.call("browser_open", { url: `${origin}/` });
  ok(first.includes(`(a script) → ${origin}/`), first);
  const more = await web.call("browser_submit", {
    ...{ ref: refOf(first, "More"), snapshot: idOf(first), url: `${origin}/` },
    fields: { [refOf(first, "Name")]: "for carol" },
  });
  match(more, /- text: two for carol/);
  const plain = await web.call("browser_click", {
    ...{ ref: refOf(more, "Plain"), snapshot: idOf(more), url: `${origin}/` },
  });
  match(plain, /"pressed"/);
});

test("a picture is a PNG of the page, and there is none before a page is open", async () => {
  await using web = await startWeb(startBrowser, { "/": "<h1>Picture</h1>" });
  await rejects(
    web.look("browser_screenshot", {}),
    (error) => error instanceof Fault && error.code === "notFound",
  );
  await web.call("browser_open", { url: `${web.origin}/` });
  const { png, width, height } = await web.look("browser_screenshot", {}) as Record<
    string,
    unknown
  >;
  deepEqual([width, height], [1280, 900]);
  deepEqual([...Uint8Array.fromBase64(String(png)).slice(0, 4)], [137, 80, 78, 71]);
});
