import { doesNotMatch, equal, match, ok } from "node:assert/strict";
import { makeTwin, NOW, type Twin } from "../lint/_fixture/twin.ts";
import { HOSTILE } from "./_fixture/hostile.ts";
import { exportSite } from "./mod.ts";

const CHROMIUM = "/usr/bin/chromium";
const HAS_CHROMIUM = isFile(CHROMIUM) || Deno.env.get("CI") === "true";
if (!HAS_CHROMIUM) {
  Deno.stderr.writeSync(
    new TextEncoder().encode("chromium is not installed: exported sites are not opened here\n"),
  );
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false; // not installed
  }
}

const test = (name: string, fn: () => Promise<void>): void =>
  Deno.test({ name, fn, ignore: !HAS_CHROMIUM });

interface Opened extends AsyncDisposable {
  /** The page as it stands after its scripts ran. */
  dom(path: string): Promise<string>;
  /** How many connections went to a host that a page names. */
  connections(): number;
}

/** Writes files to a folder and opens them by file:, with `*.example` leading to one listener. */
async function opened(
  files: Iterable<{ readonly path: string; readonly text: string }>,
): Promise<Opened> {
  const dir = await Deno.makeTempDir({ prefix: "remit-wiki-site-" });
  for (const { path, text } of files) {
    await Deno.mkdir(`${dir}/site/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${dir}/site/${path}`, text);
  }
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  let connections = 0;
  const accepting = (async () => {
    for await (const connection of listener) {
      connections += 1;
      connection.close();
    }
  })();
  return {
    connections: () => connections,
    async dom(path) {
      const { stdout, stderr } = await new Deno.Command(CHROMIUM, {
        args: [
          "--headless=new",
          ...(Deno.uid() === 0 ? ["--no-sandbox"] : []),
          "--disable-gpu",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
          "--disable-dev-shm-usage",
          `--user-data-dir=${dir}/profile`,
          // What Chromium asks for by itself finds nothing; where pages would call home is heard.
          `--host-resolver-rules=MAP *.example 127.0.0.1:${port},MAP * ~NOTFOUND`,
          "--virtual-time-budget=3000",
          "--dump-dom",
          `file://${dir}/site/${path}`,
        ],
        clearEnv: true,
        env: { HOME: dir, TMPDIR: dir, LANG: "C.UTF-8", TZ: "UTC", PATH: "/usr/bin:/bin" },
      }).output();
      const dom = new TextDecoder().decode(stdout);
      ok(dom.includes("</html>"), new TextDecoder().decode(stderr).slice(0, 1_000));
      return dom;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      await Deno.remove(dir, { recursive: true });
    },
  };
}

function hostileWiki(): Twin {
  const wiki = makeTwin();
  const all = HOSTILE.join("\n\n");
  const source = wiki.source("web.md", `one\ntwo\nthree\n${all}`, {
    colour: "RED",
    title: HOSTILE.join(" ").slice(0, 500),
  });
  for (const [index, text] of HOSTILE.entries()) {
    wiki.page(`p${index}`, "x", {
      title: `${text} ${index}`.slice(0, 200),
      aliases: [text.slice(0, 200)],
    });
  }
  wiki.page("all", `${all}\n\nSo it is.[^1]\n\n${wiki.note("1", source, 2, 3)}`, {
    title: "Falcon",
  });
  return wiki;
}

test("a browser that opens hostile pages runs none of their scripts and asks nothing of any host", async () => {
  const files = [...exportSite(hostileWiki(), { clearance: "secret", now: NOW })];
  const source = files.find(({ path }) => path.startsWith("sources/"))?.path ?? "";
  await using site = await opened(files);
  for (const path of ["pages/all.html", source, "index.html"]) {
    const dom = await site.dom(path);
    doesNotMatch(dom, /<html[^>]*hacked/, path);
    match(dom, /Exported by Remit/, path);
  }
  equal(site.connections(), 0);
});

test("this very test sees a script that runs and a request that leaves", async () => {
  const [html] = [...exportSite(hostileWiki(), { clearance: "secret", now: NOW })]
    .filter(({ path }) => path === "pages/all.html");
  const open = (html?.text ?? "").replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "")
    .replace(
      /(<main>)/,
      `$1<script>document.documentElement.setAttribute("hacked","1")</script><img src="http://evil.example/x.png">`,
    );
  await using site = await opened([{ path: "a.html", text: open }]);
  match(await site.dom("a.html"), /<html[^>]*hacked/);
  ok(site.connections() > 0);
});

// A frame is not among them: Chromium connects to its host, saying nothing, before it asks the policy. Against
// frames stands the renderer alone.
test("the policy alone stops what the renderer might let through", async () => {
  const [html] = [...exportSite(hostileWiki(), { clearance: "secret", now: NOW })]
    .filter(({ path }) => path === "pages/all.html");
  const open = (html?.text ?? "").replace(
    /(<main>)/,
    `$1<script>document.documentElement.setAttribute("hacked","1")</script><img src="http://evil.example/x.png">
<a href="javascript:1" id="x">x</a><img src=x onerror="document.documentElement.setAttribute('hacked','1')">
<link rel="stylesheet" href="http://evil.example/x.css">
<style>body{background:url(http://evil.example/b.png)}</style><object data="http://evil.example/o"></object>`,
  );
  await using site = await opened([{ path: "a.html", text: open }]);
  doesNotMatch(await site.dom("a.html"), /<html[^>]*hacked/);
  equal(site.connections(), 0);
});

test("the site's own script finds pages and marks the lines that a footnote leads to", async () => {
  const files = [...exportSite(hostileWiki(), { clearance: "secret", now: NOW })];
  const source = files.find(({ path }) => path.startsWith("sources/"))?.path ?? "";
  await using site = await opened(files);
  const found = await site.dom("index.html#q=falcon");
  match(found, /<ul class="rows" id="remit-found"><li><a href="pages\/all\.html">Falcon<\/a>/);
  const hostile = await site.dom("index.html#q=onerror");
  doesNotMatch(hostile, /<html[^>]*hacked/);
  match(hostile, /id="remit-found"><li><a href="pages\/[^"]*">/);
  const lines = await site.dom(`${source}#L2-L3`);
  match(lines, /<span id="L2" class="cited here">/);
  match(lines, /<span id="L3" class="cited here">/);
  doesNotMatch(lines, /<span id="L1"[^>]*here/);
  equal(site.connections(), 0);
});
