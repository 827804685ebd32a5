import assert from "node:assert/strict";
import fc from "fast-check";
import { citationLine, readCitation, shownName } from "./citation_line.ts";

const DIGEST = "3f2a90bc12de4567" + "0".repeat(48);
const LEASE = {
  note: "1",
  file: "raw/lease.3f2a90bc12de.md",
  shown: "docs/lease.md",
  digest: DIGEST,
  startLine: 31,
  endLine: 33,
};
const body = (line: string): string => line.replace(/^\[\^[^\]]+\]: /, "");

Deno.test("a citation is written exactly as decision 0013 has it", () => {
  assert.equal(
    citationLine(LEASE),
    "[^1]: [docs/lease.md](../raw/lease.3f2a90bc12de.md#L31-L33) lines 31-33 of sha256:3f2a90bc12de4567",
  );
  assert.equal(
    citationLine({ ...LEASE, endLine: 31 }),
    "[^1]: [docs/lease.md](../raw/lease.3f2a90bc12de.md#L31) line 31 of sha256:3f2a90bc12de4567",
  );
});

Deno.test("what is written is read back, whatever the source and its file are called", () => {
  const slug = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }).filter((text) =>
    !/[/\\\p{Cc}\p{Cs}]/u.test(text)
  );
  fc.assert(
    fc.property(
      slug,
      fc.string({ unit: "binary", maxLength: 80 }),
      fc.nat(9_999),
      fc.nat(99),
      (name, shown, from, more) => {
        const file = `raw/${name}.3f2a90bc12de.md`;
        const parts = { ...LEASE, file, shown, startLine: from + 1, endLine: from + 1 + more };
        const line = citationLine(parts);
        assert.equal(line.includes("\n"), false);
        const read = readCitation(body(line));
        assert.equal(read.kind, "citation");
        if (read.kind !== "citation") return;
        assert.equal(read.file, file);
        assert.equal(read.startLine, from + 1);
        assert.equal(read.endLine, from + 1 + more);
        assert.equal(read.digestPrefix, DIGEST.slice(0, 16));
      },
    ),
  );
});

Deno.test("mallory's footnotes that only look like citations are broken, each with its reason", () => {
  const form = (link: string, words: string, digest = "3f2a90bc12de4567"): string =>
    `[docs/lease.md](../${link}) ${words} of sha256:${digest}`;
  const good = "raw/lease.3f2a90bc12de.md";
  const cases: readonly (readonly [string, RegExp])[] = [
    [form(`${good}#L31-L33`, "lines 31-33", "aaaaaaaaaaaaaaaa"), /not the one that its digest/],
    [form(`raw/other.aaaaaaaaaaaa.md#L31-L33`, "lines 31-33"), /not the one that its digest/],
    [form(`${good}#L31-L33`, "lines 3-5"), /different lines/],
    [form(`${good}#L33-L31`, "lines 33-31"), /backwards/],
    [form(`${good}#L0`, "line 0"), /no source has such lines/],
    [form(`${good}#L999999999999`, "line 999999999999"), /no source has such lines/],
    [form(`${good}#L031`, "line 031"), /not written as/],
    [form(`${good}#L31-L31`, "lines 31-31"), /not written as/],
    [form(`raw/../../etc/3f2a90bc12de.3f2a90bc12de.md#L1`, "line 1"), /no file beneath raw/],
    [form(`raw/%2e%2e%2fpasswd.3f2a90bc12de.md#L1`, "line 1"), /no file beneath raw/],
    [form(`raw/%zz.3f2a90bc12de.md#L1`, "line 1"), /no file beneath raw/],
    [form(`pages/lease.3f2a90bc12de.md#L1`, "line 1"), /not written as/],
    [form(`${good}#L31`, "line 31", "3f2a90bc12de45"), /not written as/],
    [form(`${good}#L31`, "line 31", "3F2A90BC12DE4567"), /not written as/],
    [`${form(`${good}#L31`, "line 31")} and more`, /not written as/],
    ["https://example.com/lease", /not written as/],
    ["", /not written as/],
    [`[${"x".repeat(5_000)}](../${good}#L1) line 1 of sha256:3f2a90bc12de4567`, /too long/],
  ];
  for (const [definition, why] of cases) {
    const read = readCitation(definition);
    assert.equal(read.kind, "broken", definition);
    if (read.kind === "broken") assert.match(read.why, why, definition);
  }
  assert.equal(readCitation(form(`${good}#L31-L33`, "lines 31-33")).kind, "citation");
});

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
