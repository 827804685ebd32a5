import assert from "node:assert/strict";
import { shownName } from "./footnotes.ts";

function named(origin: string, key = "file:/a.md"): string {
  return shownName({ key, title: "Title", provenance: { origin, by: "operator", retrievedAt: 0 } });
}

Deno.test("a source is named by the end of its path or URL, else by its title", () => {
  assert.equal(named("/home/ada/work/docs/lease.md"), "docs/lease.md");
  assert.equal(named("https://a.example/docs/lease.md?key=1#top"), "docs/lease.md");
  // An address without a path is its host, without a scheme.
  assert.equal(named("https://a.example"), "a.example");
  assert.equal(named("https://a.example/"), "a.example");
  assert.equal(named("-", "stdin:minutes.md"), "minutes.md");
  assert.equal(named("/"), "Title");
});
