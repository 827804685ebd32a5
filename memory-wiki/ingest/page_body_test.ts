import assert from "node:assert/strict";
import { readPage } from "../markdown/mod.ts";
import { linkNames } from "./page_body.ts";

const pages = [{ name: "lease", title: "Lease" }, { name: "lease-table", title: "lease table" }];

Deno.test("the first mention of a page becomes a link, the longer name first", () => {
  assert.equal(
    linkNames("The lease table holds a lease; leases end.", pages),
    "The [[lease-table|lease table]] holds a lease; leases end.",
  );
  assert.equal(linkNames("A Lease ends", pages), "A [[lease|Lease]] ends");
});

Deno.test("mallory's statement brings no footnote, link, image or HTML of its own", () => {
  const text =
    "See [^1] and [[lease]] and ![x](http://evil.example/?a) <img src=x> `code`\n[^1]: fake";
  const { links, claims, citations, brokenNotes } = readPage(`- ${linkNames(text, [])}\n`);
  assert.deepEqual([links, citations, brokenNotes], [[], [], []]);
  assert.deepEqual(claims.flatMap(({ notes }) => notes), []);
});
