import assert from "node:assert/strict";
import { findEntry, parseCatalogue, readCatalogue } from "./catalogue.ts";
import { makeDisk } from "../../../launch/disk/disk_powers.ts";

const HOME = Deno.realPathSync(new URL("../../..", import.meta.url));

Deno.test("the catalogue parses; each model comes over https, with licence and reason", () => {
  const entries = readCatalogue(makeDisk(), HOME);
  assert.ok(entries.length >= 2);
  for (const entry of entries) {
    assert.match(entry.url, /^https:\/\//, entry.name);
    assert.match(entry.licence, /^(Apache-2\.0|MIT|BSD-[23]-Clause)$/, entry.name);
    assert.ok(entry.about <= 3_000_000_000, `${entry.name} fits into 8 GB with room`);
  }
});

Deno.test("an entry that could be misread is refused with its place", () => {
  const entry = (more: string): string =>
    "version: 1\nmodels:\n  - { name: a, title: A, url: 'https://h.example/a', about: 5, " +
    `licence: MIT, why: small${more} }\n`;
  assert.equal(parseCatalogue(entry(""))[0]?.name, "a");
  assert.throws(() => parseCatalogue(entry(", sha256: abc")), /models\.0\.sha256 is wrong/);
  assert.throws(() => parseCatalogue(entry(", hash: abc")), /is wrong/);
  assert.throws(() => parseCatalogue(entry("").replace("https:", "file:")), /models\.0\.url/);
  assert.throws(
    () => parseCatalogue(entry("").replace("name: a", "name: ../a")),
    /models\.0\.name/,
  );
  const twice = entry("") + entry("").split("\n").slice(2).join("\n");
  assert.throws(() => parseCatalogue(twice), /"a" is there twice/);
  assert.throws(() => parseCatalogue("{"), /no YAML/);
  assert.throws(() => findEntry(parseCatalogue(entry("")), "b"), /the catalogue has a;/);
});
