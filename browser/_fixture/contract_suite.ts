/** The claims that every engine of the browser tools must meet. @module */
import { doesNotMatch, equal, match, ok, rejects } from "node:assert/strict";
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import { redirect, reply } from "../../net/_fixture/site.ts";
import type { StartEngine } from "./engine.ts";
import { idOf, type Pages, refOf, startWeb, type Web } from "./web.ts";

/** Registers a test: `Deno.test`. */
export type RegisterTest = (name: string, body: () => Promise<void>) => void;

const SHOP = `<title>Shop</title><h1>Shop &amp; more</h1><p>Hello <b>you</b>.</p>
<ul><li>one</li><li>two</li></ul><a href="/about">About us</a>
<table><tr><th>a<th>b<tr><td>1<td>2</table><pre>  x = 1
  y</pre>
<form action="/find"><label>Query <input name="q"></label>
<select name="sort"><option value="new">Newest<option value="old">Oldest</select><button>Go</button></form>
<form method="post" action="/notes"><input name="title" aria-label="Title"><input type="hidden" name="t" value="&1">
<input type="password" name="p" aria-label="Key"><button name="b" value="1">Save</button></form>`;

/** Ways to hide from people text that is meant for a machine. */
const HIDDEN: readonly string[] = [
  `<p style="display:none">HIDDEN</p>`,
  `<p hidden>HIDDEN</p>`,
  `<p style="visibility:hidden">HIDDEN</p>`,
  `<p style="opacity:0">HIDDEN</p>`,
  `<p style="opacity:0.02">HIDDEN</p>`,
  `<p style="color:#fff">HIDDEN</p>`,
  `<p style="color:transparent">HIDDEN</p>`,
  `<div style="background:#123456"><p style="color:#123456">HIDDEN</p></div>`,
  `<p style="font-size:0">HIDDEN</p>`,
  `<p style="font-size:1px">HIDDEN</p>`,
  `<p style="position:absolute;left:-9999px">HIDDEN</p>`,
  `<p style="position:absolute;top:-9999px">HIDDEN</p>`,
  `<p style="position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)">HIDDEN</p>`,
  `<div style="height:0;overflow:hidden">HIDDEN</div>`,
  `<div style="clip-path:inset(100%)">HIDDEN</div>`,
  `<div style="transform:scale(0)">HIDDEN</div>`,
  `<p aria-hidden="true">HIDDEN</p>`,
  `<p style="text-indent:-9999px;overflow:hidden">HIDDEN</p>`,
  `<style>.gone{display:none}</style><p class="gone">HIDDEN</p>`,
  `<!-- HIDDEN -->`,
  `<template>HIDDEN</template>`,
  `<noscript style="display:none">HIDDEN</noscript>`,
  `<p>a\u{e0048}\u{e0049}b</p>`,
];

const isFault = (code: FaultCode, words = "") => (error: unknown): boolean =>
  error instanceof Fault && error.code === code && error.message.includes(words);

/** The claims, for one engine. */
export function testEngine(name: string, start: StartEngine, register: RegisterTest): void {
  const test = (claim: string, pages: Pages, body: (web: Web) => Promise<void>): void =>
    register(`${name}: ${claim}`, async () => {
      await using web = await startWeb(start, pages);
      await body(web);
    });

  test(
    "alice reads a page as lines with roles, names, refs and addresses",
    { "/": SHOP },
    async (web) => {
      const { origin } = web;
      const shown = await web.call("browser_open", { url: `${origin}/` });
      match(shown, new RegExp(`^page ${origin}/ \\(status 200\\)\nsnapshot [0-9a-f]{8}-1\n`));
      for (
        const line of [
          `title "Shop"`,
          `heading 1 "Shop & more"`,
          `text: Hello you.`,
          `- text: one`,
          `  header: "a" | "b"`,
          `  row: "1" | "2"`,
          `|   x = 1`,
          `(never typed by an agent: a person has to do this)`,
        ]
      ) ok(shown.includes(line), `${line}\n--- is not in\n${shown}`);
      match(shown, new RegExp(`link e1 "About us" → ${origin}/about\n`));
      match(shown, /combobox e[0-9]+ .*name "sort", one of "new" \("Newest"\)\*, "old"/);
      ok(shown.includes(`browser_submit, url ${origin}/find?q=&sort=new`), shown);
      ok(shown.includes(`browser_post, url ${origin}/notes, body "title=&t=%261&p=&b=1"`), shown);
    },
  );

  test(
    "alice follows a link and goes back; refs of older snapshots are refused",
    { "/": SHOP, "/about": "<p>Since 1999." },
    async (web) => {
      const { origin } = web;
      const first = await web.call("browser_open", { url: `${origin}/` });
      const link = { ref: refOf(first, "About us"), snapshot: idOf(first) };
      await rejects(
        web.call("browser_click", { ...link, url: `${origin}/other` }),
        isFault("invalidArguments", `call again with url "${origin}/about"`),
      );
      const about = await web.call("browser_click", { ...link, url: `${origin}/about` });
      match(about, /text: Since 1999\.$/);
      ok(about.includes(`back: ${origin}/`), about);
      await rejects(
        web.call("browser_click", { ...link, url: `${origin}/about` }),
        isFault("conflict"),
      );
      await rejects(
        web.call("browser_click", { ref: "e99", snapshot: idOf(about), url: `${origin}/` }),
        isFault("invalidArguments", "no such ref"),
      );
      const back = await web.call("browser_back", { snapshot: idOf(about), url: `${origin}/` });
      match(back, /heading 1 "Shop & more"/);
      ok(idOf(back) !== idOf(first));
    },
  );

  test(
    "alice sends forms, and exactly what she was let to: else nothing is sent",
    { "/": SHOP, "/find": "<p>Found", "/notes": "<p>Saved" },
    async (web) => {
      const { origin, site } = web;
      const first = await web.call("browser_open", { url: `${origin}/` });
      const find = {
        ...{ ref: refOf(first, "Go"), snapshot: idOf(first) },
        fields: { [refOf(first, "Query")]: "a b&c", [refOf(first, "sort")]: "old" },
      };
      await rejects(
        web.call("browser_submit", { ...find, url: `${origin}/find?q=x` }),
        isFault("invalidArguments", `call again with url "${origin}/find?q=a+b%26c&sort=old"`),
      );
      equal(site.seen.length, 1);
      const found = await web.call("browser_submit", {
        ...find,
        url: `${origin}/find?q=a+b%26c&sort=old`,
      });
      match(found, /text: Found$/);
      const again = await web.call("browser_back", { snapshot: idOf(found), url: `${origin}/` });
      const save = {
        ...{ ref: refOf(again, "Save"), snapshot: idOf(again), url: `${origin}/notes` },
        fields: { [refOf(again, "Title")]: "Milk" },
      };
      const before = site.seen.length;
      const body = "title=Milk&t=%261&p=&b=1";
      await rejects(
        web.call("browser_post", { ...save, body: "title=Milk" }),
        isFault("invalidArguments", JSON.stringify(body)),
      );
      equal(site.seen.length, before);
      match(await web.call("browser_post", { ...save, body }), /text: Saved$/);
      const sent = site.seen.at(-1);
      equal(`${sent?.method} ${sent?.target} ${sent?.body}`, `POST /notes ${body}`);
      equal(site.seen.filter(({ method }) => method === "POST").length, 1);
      equal(sent?.headers["cookie"], undefined);
      equal(sent?.headers["referer"], undefined);
    },
  );

  test(
    "mallory hides words from people, and no model reads them",
    { "/": `<h1>Seen</h1>${HIDDEN.join("\n")}<p>End` },
    async (web) => {
      const shown = await web.call("browser_open", { url: `${web.origin}/` });
      match(shown, /heading 1 "Seen"/);
      match(shown, /text: End/);
      doesNotMatch(shown, /HIDDEN/);
      match(shown, /text: ab/);
      doesNotMatch(shown, /[\u{e0000}-\u{e007f}]/u);
      match(shown, /note: left out: [0-9]+ hidden pieces/);
    },
  );

  test(
    "mallory redirects to the metadata address: it is shown, and not followed",
    { "/": redirect(302, "http://169.254.169.254/latest/meta-data/") },
    async (web) => {
      const shown = await web.call("browser_open", { url: `${web.origin}/` });
      match(shown, /^page \S+ \(status 302\)/);
      match(shown, /It was not followed: /);
      match(shown, /link e1 "the place it leads to" → http:\/\/169\.254\.169\.254\/latest/);
      equal(web.site.seen.length, 1);
    },
  );

  test(
    "a redirect within the origin is followed, and links are read against where it led",
    { "/": redirect(301, "/deep/page"), "/deep/page": `<a href="next">Next</a>` },
    async (web) => {
      const shown = await web.call("browser_open", { url: `${web.origin}/` });
      match(shown, new RegExp(`^page ${web.origin}/deep/page `));
      ok(shown.includes(`"Next" → ${web.origin}/deep/next`), shown);
      equal(web.site.seen.length, 2);
    },
  );

  const gigabyte = (type: string) => async (write: (text: string) => Promise<void>) => {
    await write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: 1000000000\r\n\r\n`);
    await write("<p>begin</p>");
    const much = "x".repeat(65_536);
    for (let sent = 0; sent < 1e9; sent += much.length) await write(much);
  };

  test(
    "mallory's page of a gigabyte is cut, and its download is refused",
    {
      "/": gigabyte("text/html"),
      "/data": gigabyte("text/csv"),
      "/small": reply(200, { "content-type": "text/csv" }, "a,b\n"),
    },
    async (web) => {
      const { origin, site, written } = web;
      const shown = await web.call("browser_open", { url: `${origin}/` });
      match(shown, /note: the page is longer than what was fetched/);
      match(shown, /text: begin/);
      await site.hungUp;
      await rejects(
        web.call("browser_download", { url: `${origin}/data`, path: "scratch/data.csv" }),
        isFault("tooLarge"),
      );
      equal(written.size, 0);
      const saved = await web.call("browser_download", {
        ...{ url: `${origin}/small`, path: "scratch/small.csv" },
      });
      match(saved, /^saved scratch\/small\.csv: 4 characters/);
      equal(written.get("scratch/small.csv"), "a,b\n");
    },
  );

  const places = ["file:///etc/passwd", "data:text/html,<p>x", "javascript:alert(1)"];
  test(
    "nothing but http and https is opened, and links elsewhere say so",
    {
      "/": places.map((place) => `<a href="${place.replace("<p>", "%3Cp%3E")}">to</a>`).join("\n"),
    },
    async (web) => {
      const { origin } = web;
      for (
        const url of [...places, "view-source:http://127.0.0.1/", "chrome://version", "about:blank"]
      ) {
        await rejects(web.call("browser_open", { url }), isFault("refused"));
      }
      const shown = await web.call("browser_open", { url: `${origin}/` });
      match(shown, /link "to" \(file: not followed\)/);
      match(shown, /link "to" \(data: not followed\)/);
      doesNotMatch(shown, /root:/);
    },
  );

  test(
    "a link into a window of its own opens in the page that there is",
    { "/": `<a target="_blank" href="/about">About us</a>`, "/about": "<p>Since 1999." },
    async (web) => {
      const first = await web.call("browser_open", { url: `${web.origin}/` });
      const about = await web.call("browser_click", {
        ...{ ref: refOf(first, "About us"), snapshot: idOf(first), url: `${web.origin}/about` },
      });
      match(about, /text: Since 1999\.$/);
    },
  );

  test(
    "what is no page is said to be none, and a closed session has no page",
    { "/": reply(200, { "content-type": "image/png" }, Uint8Array.of(137, 80, 78, 71, 255)) },
    async (web) => {
      const { origin } = web;
      const shown = await web.call("browser_open", { url: `${origin}/` });
      match(shown, /note: this is /);
      equal(await web.call("browser_close", { url: `${origin}/` }), "closed");
      await rejects(web.call("browser_snapshot", { url: `${origin}/` }), isFault("notFound"));
    },
  );
}
