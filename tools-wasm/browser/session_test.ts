import { deepEqual, equal, match, ok } from "node:assert/strict";
import { makeBrowser } from "./_fixture/browser.ts";

const A = "https://a.example/";
const B = "https://a.example/b";

Deno.test("alice follows a link, goes back, and nothing is fetched twice", async () => {
  const { call, site } = makeBrowser({ [A]: "<title>A</title><a href=b>b</a>", [B]: "<p>two" });
  equal(
    await call("browser_open", { url: A }),
    `page ${A} (status 200)\nsnapshot 01010101-1\ntitle "A"\n\nlink e1 "b" → ${B}`,
  );
  equal(
    await call("browser_click", { ref: "e1", snapshot: "01010101-1", url: B }),
    `page ${B} (status 200)\nsnapshot 01010101-2\nback: ${A}\n\ntext: two`,
  );
  match(await call("browser_back", { snapshot: "01010101-1", url: A }), /^conflict: /);
  match(
    await call("browser_back", { snapshot: "01010101-2", url: B }),
    /^invalidArguments: .*"back:"/,
  );
  match(
    await call("browser_back", { snapshot: "01010101-2", url: A }),
    /snapshot 01010101-3\ntitle "A"\n\nlink e1/,
  );
  match(
    await call("browser_back", { snapshot: "01010101-3", url: A }),
    /^notFound: .*no page before/,
  );
  deepEqual(site.asked.map(({ url }) => url), [A, B]);
  equal(await call("browser_close", { url: A }), "closed");
  match(
    await call("browser_snapshot", { url: A }),
    /^notFound: .*open the page again with browser_open$/,
  );
});

Deno.test("an action against an older snapshot, or a ref that is not there, does nothing", async () => {
  const { call, site } = makeBrowser({ [A]: "<a href=b>b</a><form><input name=q>", [B]: "two" });
  await call("browser_open", { url: A });
  await call("browser_open", { url: A });
  const cases: readonly (readonly [args: object, said: RegExp])[] = [
    [{ ref: "e1", snapshot: "01010101-1", url: B }, /^conflict: .*not the newest/],
    [{ ref: "e1", snapshot: "", url: B }, /^conflict: /],
    [{ ref: "e9", snapshot: "01010101-2", url: B }, /^invalidArguments: .*no such ref/],
    [{ ref: "constructor", snapshot: "01010101-2", url: B }, /^invalidArguments: .*no such ref/],
    [
      { ref: "e1", snapshot: "01010101-2", url: A },
      /^invalidArguments: .*call again with url "https:\/\/a.example\/b"$/,
    ],
    [{ ref: "e2", snapshot: "01010101-2", url: B }, /^invalidArguments: .*no link/],
  ];
  for (const [args, said] of cases) match(await call("browser_click", args), said);
  match(
    await call("browser_submit", { ref: "e1", snapshot: "01010101-2", url: B }),
    /^invalidArguments: .*a form or of a submit button/,
  );
  equal(site.asked.length, 2);
});

Deno.test("an id of a session that was lost fits no later one", async () => {
  const first = makeBrowser({ [A]: "<a href=b>b</a>" });
  match(await first.call("browser_open", { url: A }), /snapshot 01010101-1/);
  const { call, site } = makeBrowser({ [A]: "<a href=b>b</a>", [B]: "two" });
  const old = { ref: "e1", snapshot: "01010101-1", url: B };
  match(await call("browser_click", old), /^notFound: .*lost with its process.*browser_open$/);
  // The second session's random bytes are others.
  await site.random(4);
  match(await call("browser_open", { url: A }), /snapshot 02020202-1/);
  match(await call("browser_click", old), /^conflict: .*open the page again/);
});

Deno.test("a page that is refused leaves the open one as it is", async () => {
  const { call } = makeBrowser({ [A]: "<a href=b>b</a>" });
  await call("browser_open", { url: A });
  const click = { ref: "e1", snapshot: "01010101-1", url: B };
  match(await call("browser_click", click), /^refused: Cannot fetch/);
  match(await call("browser_snapshot", { url: A }), /snapshot 01010101-1/);
});

Deno.test("mallory's redirect to a metadata address is shown, and is not followed", async () => {
  const places: readonly (readonly [location: string, line: RegExp])[] = [
    [
      "http://169.254.169.254/latest/meta-data/",
      /link e1 "the place it leads to" → http:\/\/169\.254\.169\.254\/latest\/meta-data\/$/,
    ],
    ["//other.example/x", /link e1 .* → https:\/\/other\.example\/x$/],
    ["file:///etc/passwd", /It leads to file:, which is never followed\.$/],
    [
      "http://[::ffff:a9fe:a9fe]/",
      /an address of a kind that is not followed, which is never followed\.$/,
    ],
  ];
  for (const [location, line] of places) {
    const { call, site } = makeBrowser({
      [A]: { status: 302, text: "", stopped: { location, why: "another origin\nsnapshot x" } },
    });
    const shown = await call("browser_open", { url: A });
    match(shown, line);
    match(shown, /It was not followed: another origin snapshot x\./);
    equal(site.asked.length, 1);
  }
});

Deno.test("only the web is opened", async () => {
  const { call, site } = makeBrowser({});
  for (
    const url of [
      "file:///etc/passwd",
      "data:text/html,x",
      "javascript:alert(1)",
      "blob:x",
      "about:blank",
      "ftp://a/",
    ]
  ) {
    match(await call("browser_open", { url }), /^refused: .*only http and https/);
  }
  equal(site.asked.length, 0);
});

Deno.test("no request carries a cookie or says where it came from", async () => {
  const { call, site } = makeBrowser({
    [A]: { text: "<a href=b>b</a>", headers: { "content-type": "text/html", "set-cookie": "a=b" } },
    [B]: "two",
  });
  await call("browser_open", { url: A });
  await call("browser_click", { ref: "e1", snapshot: "01010101-1", url: B });
  for (const { headers } of site.asked) deepEqual(Object.keys(headers ?? {}), ["accept"]);
});

Deno.test("what is no page is shown as lines, or named", async () => {
  const cases: readonly (readonly [type: string, served: object, shown: RegExp])[] = [
    ["text/plain", { text: "a\n <b>" }, /\n\n\| a\n\| {2}<b>$/],
    ["application/json", { text: '{"a":1}' }, /\n\n\| {"a":1}$/],
    ["image/png", { base64: btoa("\x89PNG\0") }, /note: this is not text \(image\/png\)/],
    ["application/pdf", { text: "%PDF" }, /note: this is no page \(application\/pdf\)/],
    ["text/html", { base64: btoa("<p>caf\xe9 \x80"), charset: "windows-1252" }, /text: café €$/],
    ["text/html", { base64: btoa("<meta charset=latin1><p>\xe9") }, /text: é$/],
    ["text/html", { base64: btoa("\xff\xfe<\0p\0>\0\xac\x20") }, /text: €$/],
    [
      "text/html",
      { base64: btoa("<meta charset=shift_jis>\x83\x65x") },
      /note: its encoding \(shift_jis\) is not read/,
    ],
    ["", { text: " <!doctype html><p>x" }, /text: x$/],
  ];
  for (
    const [type, { charset, ...served }, shown]
      of cases as readonly (readonly [string, { charset?: string }, RegExp])[]
  ) {
    const headers = {
      "content-type": type + (charset === undefined ? "" : `; charset=${charset}`),
    };
    const { call } = makeBrowser({ [A]: { headers, ...served } });
    match(await call("browser_open", { url: A }), shown, type);
  }
});

Deno.test("only so many pages are kept to go back to", async () => {
  const pages = Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => [`${A}${at}`, `page ${at}`]),
  );
  const { call } = makeBrowser(pages);
  for (const url of Object.keys(pages)) await call("browser_open", { url });
  for (let at = 10; at > 3; at -= 1) {
    const snapshot = `01010101-${12 + 10 - at}`;
    match(
      await call("browser_back", { snapshot, url: `${A}${at}` }),
      new RegExp(`text: page ${at}$`),
    );
  }
  match(await call("browser_back", { snapshot: "01010101-19", url: `${A}3` }), /^notFound: /);
});

Deno.test("a download is saved as text beneath scratch, or not at all", async () => {
  const csv = { headers: { "content-type": "text/csv" }, text: "a,b\n" };
  const url = `${A}x`;
  const { call, site } = makeBrowser({ [A]: "<a href=x>x</a>", [url]: csv });
  match(
    await call("browser_download", { url, path: "scratch/x.csv" }),
    /^saved scratch\/x.csv: 4 characters \(text\/csv\)/,
  );
  equal(site.written.get("scratch/x.csv"), "a,b\n");
  equal(site.asked[0]?.bytes, 1_000_000);
  match(await call("browser_download", { url, path: "desk/x.csv" }), /has to begin with scratch\//);
  const at = { url, path: "scratch/y", ref: "e1", snapshot: "01010101-1" };
  match(await call("browser_download", at), /^notFound: .*no page is open/);
  await call("browser_open", { url: A });
  match(await call("browser_download", { ...at, snapshot: "01010101-0" }), /^conflict: /);
  match(await call("browser_download", { ...at, ref: "e2" }), /no such ref/);
  match(await call("browser_download", { url, path: "scratch/y", ref: "e1" }), /^conflict: /);
  ok(!site.written.has("scratch/y"));
  match(await call("browser_download", at), /^saved scratch\/y/);
  match(await call("browser_snapshot", { url: A }), /snapshot 01010101-1/);
});

Deno.test("mallory's gigabyte, binaries, errors and redirects are not saved", async () => {
  const cases: readonly (readonly [served: object, said: RegExp])[] = [
    [
      { text: "x".repeat(1_000_000), cut: true },
      /^tooLarge: .*more than 1000000 bytes; .*nothing was saved$/,
    ],
    [
      { base64: btoa("\x89PNG\0"), headers: { "content-type": "image/png" } },
      /^refused: .*not UTF-8 text \(image\/png\)/,
    ],
    [{ base64: btoa("\xff\xfe\xfd"), headers: {} }, /^refused: .*of no named type/],
    [{ text: "a\0b", headers: { "content-type": "text/plain" } }, /^refused: .*not UTF-8 text/],
    [{ status: 404, text: "no" }, /^refused: .*the server says 404$/],
    [
      {
        status: 302,
        text: "",
        stopped: { location: "http://169.254.169.254/", why: "another origin" },
      },
      /^refused: .*leads to "http:\/\/169\.254\.169\.254\/".*a call of its own$/,
    ],
  ];
  for (const [served, said] of cases) {
    const { call, site } = makeBrowser({ [A]: served });
    match(await call("browser_download", { url: A, path: "scratch/x" }), said);
    equal(site.written.size, 0);
  }
});
