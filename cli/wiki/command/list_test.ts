import assert from "node:assert/strict";
import { D, NOW, rig } from "../_fixture/rig.ts";

const row = (n: number) => ({
  ...{
    name: `page-${String(n).padStart(5, "0")}`,
    title: "T",
    kind: "concept",
    about: `about ${n}`,
  },
  ...{ colour: "YELLOW", label: "internal", stale: n === 3 },
});
const source = (id: number, more: object = {}) => ({
  ...{ id, key: `file:/d/${id}.md`, version: 1, digest: D, textDigest: D, kind: "markdown" },
  ...{ title: "T", raw: `raw/${id}.md`, text: `raw/${id}.md`, bytes: 1, lines: 1, owner: "alice" },
  ...{ label: "internal", colour: "YELLOW", state: "current", ingestedAt: NOW },
  provenance: { origin: `/d/${id}.md`, by: "operator", retrievedAt: NOW },
  ...more,
});

Deno.test("list shows every page of a large wiki, however many the process gives at once", async () => {
  const rows = Array.from({ length: 2_500 }, (_, n) => row(n));
  const at = await rig({
    ops: {
      index(given) {
        const { after = "", limit } = given as { after?: string; limit: number };
        return rows.filter(({ name }) => name > after).slice(0, limit);
      },
    },
  });
  assert.equal(await at.run("list"), 0);
  const lines = at.out().trim().split("\n");
  assert.equal(lines.length, 2_501);
  assert.match(lines[4] ?? "", /^page-00003 +concept +stale +about 3$/);
  assert.equal(await at.run("list", "--json", "--clearance", "public"), 0);
  assert.equal(JSON.parse(at.powers.screen.outs.at(-1) ?? "").length, 2_500);
});

Deno.test("list --sources shows whose each is, from where, how far it is trusted and until when", async () => {
  const web = { origin: "https://example.org/\x1b[2J", by: "operator", retrievedAt: NOW };
  const all = [
    source(1, { state: "superseded" }),
    source(2, { colour: "RED", label: "public", provenance: web, expiresAt: NOW + 86_400_000 }),
    source(3, { state: "removed", label: "secret", expiresAt: NOW - 86_400_000 }),
  ];
  const at = await rig({
    ops: { sources: (given) => (given as { afterId: number }).afterId === 0 ? all : [] },
  });
  assert.equal(await at.run("list", "--sources"), 0);
  const lines = at.out().trim().split("\n");
  assert.equal(lines.length, 3);
  assert.match(
    lines[1] ?? "",
    /^raw\/2\.md +markdown +RED public until 2023-11-15 .* alice +https:/,
  );
  assert.match(lines[2] ?? "", /^raw\/3\.md .*secret ended 2023-11-13 removed .*3\.md$/);
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(at.out(), /\x1b/);
  assert.equal(await at.run("list", "--sources", "--wikis"), 2);
});
