import { equal, match, ok } from "node:assert/strict";
import { makeInstance } from "../exec/_fixture/instance.ts";
import { bundleScript } from "../sdk/ts/bundle.ts";
import { processorTime } from "../../tests/fake/processor_time.ts";
import { answerOf, type Served } from "./_fixture/site.ts";

const script = bundleScript(new URL(".", import.meta.url).pathname);

/** The plugin as the host runs it: bundled, in the engine, over a web of `pages`. */
async function start(pages: Readonly<Record<string, Served>>) {
  const instance = await makeInstance((fn, args) => {
    if (fn === "random") return { base64: btoa("\u0001\u0002\u0003\u0004") };
    if (fn === "fs.write") return null;
    const url = String(args["url"]);
    const page = pages[url];
    if (fn === "http.fetch" && page !== undefined) return answerOf(url, page);
    throw Object.assign(new Error(`Cannot serve ${fn} ${url}`), { code: "refused" });
  });
  const loaded = await instance.call("@load", { source: await script });
  ok(loaded.ok, JSON.stringify(loaded.error));
  return instance;
}

Deno.test("alice browses in the real engine, and the session lives between her calls", async () => {
  const site = "https://shop.example";
  const instance = await start({
    [`${site}/`]:
      `<h1>Shop</h1><a href="/about">About – us</a><form action="/find"><input name="q"></form>`,
    [`${site}/about`]: "<p>Since 1999. 😀</p>",
    [`${site}/find?q=t%C3%A9+%26`]: "<p>Found</p>",
  });
  try {
    const opened = await instance.call("browser_open", { url: `${site}/` });
    equal(
      opened.value,
      `page ${site}/ (status 200)\nsnapshot 01020304-1\n\nheading 1 "Shop"\nlink e1 "About – us" → ${site}/about\n` +
        `form e2 GET → ${site}/find\n  textbox e3 "q" name "q", value ""\n  sending e2: browser_submit, url ${site}/find?q=`,
    );
    const about = await instance.call("browser_click", {
      ref: "e1",
      snapshot: "01020304-1",
      url: `${site}/about`,
    });
    match(
      String(about.value),
      /snapshot 01020304-2\nback: https:\/\/shop.example\/\n\ntext: Since 1999. 😀$/,
    );
    const back = await instance.call("browser_back", { snapshot: "01020304-2", url: `${site}/` });
    match(String(back.value), /snapshot 01020304-3/);
    const form = { ref: "e2", snapshot: "01020304-3", fields: { e3: "té &" } };
    const wrong = await instance.call("browser_submit", { ...form, url: `${site}/find?q=te` });
    equal(wrong.error?.code, "invalidArguments");
    match(
      wrong.error?.message ?? "",
      /call again with url "https:\/\/shop.example\/find\?q=t%C3%A9\+%26"$/,
    );
    const found = await instance.call("browser_submit", {
      ...form,
      url: `${site}/find?q=t%C3%A9+%26`,
    });
    match(String(found.value), /text: Found/);
    const stale = await instance.call("browser_submit", {
      ...form,
      url: `${site}/find?q=t%C3%A9+%26`,
    });
    equal(stale.error?.code, "conflict");
  } finally {
    await instance.close();
  }
});

Deno.test("mallory's pages neither crash nor stop the engine (long)", async () => {
  const pages = {
    "https://m.example/deep": "<div>".repeat(100_000) + "deep",
    "https://m.example/nested": "<ul><li><table><tr><td><a href=x><div><label>".repeat(60) + "x",
    "https://m.example/inline": "<b><i><a href=x>".repeat(20_000),
    "https://m.example/closing": "<b>".repeat(500) + "</i>".repeat(100_000),
    "https://m.example/attributes": `<p ${"a=b ".repeat(50_000)}>x`,
    "https://m.example/entities": "&amp;".repeat(50_000),
    "https://m.example/open": "<".repeat(200_000) + "<!--" + "-".repeat(200_000),
    "https://m.example/form": `<form>${
      "<input type=radio name=a checked><button name=b>".repeat(3_000)
    }`,
    "https://m.example/styles": `<style>${"a b c d e .x{display:none}".repeat(20_000)}</style>` +
      "<a class=x>".repeat(9_000),
    "https://m.example/selectors": `<style>${
      `a${" ".repeat(3_900)}b{color:red}`.repeat(100)
    }</style>`,
    "https://m.example/media": `<style>${"@media screen{".repeat(20_000)}</style>`,
    "https://m.example/labels": "<div><label>x</div>".repeat(5_000),
    "https://m.example/spaces": `<pre>x${" ".repeat(1_000_000)}x</pre>`,
    "https://m.example/style": `<p style="${"color:red;".repeat(50_000)}">` +
      `<p style="color:a${" ".repeat(200_000)}b">` + `<p style="${"/*".repeat(100_000)}">`,
    "https://m.example/links": `<a href="${"/..".repeat(200_000)}">x</a><a href="${
      " ".repeat(9_000)
    }x">y`,
    "https://m.example/__proto__":
      "<p __proto__=1 constructor=2 style=__proto__:1>x<input name=__proto__>",
  };
  const instance = await start(pages);
  const slow: string[] = [];
  try {
    for (const url of Object.keys(pages)) {
      const begun = processorTime();
      const answer = await instance.call("browser_open", { url });
      const ms = processorTime() - begun;
      ok(answer.ok, `${url}: ${JSON.stringify(answer.error)}`);
      ok(String(answer.value).length < 30_000, url);
      if (ms > 60_000) slow.push(`${url}: ${ms} ms`);
    }
    equal(slow.join(), "");
  } finally {
    await instance.close();
  }
});
