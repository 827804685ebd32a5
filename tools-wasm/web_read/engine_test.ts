import assert from "node:assert/strict";
import { makeInstance } from "../exec/_fixture/instance.ts";
import { bundleScript } from "../sdk/ts/bundle.ts";

const source = bundleScript(new URL(".", import.meta.url).pathname);

async function read(answer: Readonly<Record<string, unknown>>) {
  const instance = await makeInstance((fn) =>
    fn === "http.fetch"
      ? {
        status: 200,
        url: "https://example.org/a/b",
        headers: { "content-type": "text/html" },
        cut: false,
        ...answer,
      }
      : null
  );
  try {
    assert.equal((await instance.call("@load", { source: await source })).ok, true);
    const { value } = await instance.call("web_read", { url: "https://example.org/a/b" });
    return JSON.stringify(value);
  } finally {
    await instance.close();
  }
}

Deno.test("in the engine, alice reads a page that comes as text or as bytes of another charset", async () => {
  assert.match(
    await read({ text: "<title>T</title><h1>A</h1><a href=../c>x</a>" }),
    /# A\\n\\n\[x\]\(https:\/\/example\.org\/c\)/,
  );
  const bytes = btoa("<p>caf\xe9");
  assert.match(
    await read({ base64: bytes, headers: { "content-type": "text/html; charset=latin1" } }),
    /café/,
  );
});

for (
  const [what, text] of [
    ["100,000 elements in each other", `${"<div>".repeat(100_000)}x`],
    ["100,000 emphases in each other", `${"<b>".repeat(100_000)}x`],
    ["10,000 tables in each other", `${"<table><tr><td>".repeat(10_000)}x`],
    ["20,000 lists and quotes in each other", `${"<ul><li><blockquote>".repeat(20_000)}x`],
  ] as const
) {
  Deno.test(`in the engine, mallory's ${what} are read and the stack holds (long)`, async () => {
    assert.match(await read({ text }), /x/);
  });
}
