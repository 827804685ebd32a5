import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { placesOf } from "../../../launch/disk/places.ts";
import { D, rig } from "../_fixture/rig.ts";

const HIT = {
  ...{ kind: "source", file: "raw/lease.md", startLine: 31, endLine: 32, title: "Leases" },
  ...{ text: "A lease is a \x1b[2Jright\nthat ends.", headings: ["Leases", "What"], digest: D },
  ...{ origin: "/docs/lease.md", score: 1, colour: "RED", label: "internal", stale: false },
};
const SEARCHED = { pages: 1, sources: 2, passages: 3, terms: ["lease"], vectors: false };

Deno.test("a query shows place, headings, origin and marks, and nothing that moves the cursor", async () => {
  const at = await rig({
    ops: { query: () => ({ hits: [HIT], fit: "good", searched: SEARCHED }) },
  });
  assert.equal(
    await at.run("query", "what is", "a lease?", "--k", "3", "--clearance", "internal"),
    0,
  );
  assert.deepEqual(at.asked("query"), [{ text: "what is a lease?", k: 3, clearance: "internal" }]);
  assert.match(at.out(), /^w\/raw\/lease\.md:31 {2}Leases > What\n {2}from .*lease\.md · RED\n/);
  assert.match(at.out(), /31 │ A lease is a \\u\{1b\}\[2Jright\n {2}32 │ that ends\./);
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(at.out(), /\x1b/);
  const json = await rig({
    ops: { query: () => ({ hits: [HIT], fit: "good", searched: SEARCHED }) },
  });
  assert.equal(await json.run("query", "x", "--json"), 0);
  assert.deepEqual(Object.keys(JSON.parse(json.out())), ["question", "fit", "hits", "searched"]);
});

Deno.test("when nothing fits, it is said what was searched, and the exit code is 68", async () => {
  const at = await rig({ ops: { query: () => ({ hits: [], fit: "none", searched: SEARCHED }) } });
  assert.equal(await at.run("query", "leases"), 68);
  assert.match(
    at.out(),
    /Nothing in this wiki fits\.\n {2}looked through 1 page and 2 sources \(3 passages\) for lease/,
  );
});

Deno.test("an answer of the process that does not read is a fault, not a crash", async () => {
  const at = await rig({
    ops: { query: () => ({ hits: "many" }), lint: () => [{ rule: "made-up" }] },
  });
  assert.equal(await at.run("query", "x"), 67);
  assert.equal(await at.run("lint"), 67);
});

Deno.test("a wiki with vectors of the built-in embedder of earlier versions is searched by words, and says so", async () => {
  const at = await rig({
    ops: { query: () => ({ hits: [HIT], fit: "good", searched: SEARCHED }) },
  });
  const places = placesOf(at.powers.environment, undefined);
  Deno.mkdirSync(dirname(places.config), { recursive: true });
  Deno.writeTextFileSync(places.config, "version: 1\nembedder: lexical\n");
  const [id = ""] = [...Deno.readDirSync(join(places.state, "wiki"))]
    .filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
  Deno.writeTextFileSync(join(places.state, "wiki", id, "embedder"), "lexical\n");
  assert.equal(await at.run("query", "lease"), 0);
  assert.match(
    at.said(),
    /searched by words alone: Cannot use embedder "lexical": .*choose another with .*"remit wiki embed"/,
  );
  assert.match(at.out(), /A lease is a/);
  const [{ vector } = { vector: 1 }] = at.asked("query") as { vector?: unknown }[];
  assert.equal(vector, undefined);
  assert.equal(await at.run("embed"), 2, "vectors are made by an embedder that is chosen");
});
