import assert from "node:assert/strict";
import { faultOf } from "./_fixture/faults.ts";
import { makeRig, sourceFrom } from "./_fixture/wiki_rig.ts";

const vector = (...values: number[]): Float32Array => new Float32Array(values);

Deno.test("vectors are kept by embedder and key, and go with their passages", async () => {
  using rig = makeRig();
  const { store: { sources, vectors, close } } = await rig.open();
  const open = await sources.add(sourceFrom("file:/a.md", "one\ntwo\n", { label: "public" }));
  const hidden = await sources.add(sourceFrom("file:/s.md", "three\n", { label: "secret" }));
  assert.deepEqual(vectors.missing("m", "internal", 10).map(({ source }) => source), [
    open.id,
    open.id,
  ]);
  assert.equal(vectors.missing("m", "secret", 10).length, 3);
  const [one, two] = sources.chunksOf(open.id).map(({ id }) => id);
  const [three] = sources.chunksOf(hidden.id).map(({ id }) => id);
  vectors.put("m", [
    { key: `chunk:${one}`, vector: vector(1, 2.5, -3) },
    { key: `chunk:${three}`, vector: vector(4, 5, 6) },
    { key: "page:lease:1:0", vector: vector(7, 8, 9) },
    { key: "chunk:999999", vector: vector(0, 0, 0) },
  ]);
  assert.deepEqual([...vectors.get("m", [`chunk:${one}`, `chunk:${two}`, "page:lease:1:0"])], [
    [`chunk:${one}`, vector(1, 2.5, -3)],
    ["page:lease:1:0", vector(7, 8, 9)],
  ]);
  assert.deepEqual(vectors.get("other", [`chunk:${one}`]).size, 0);
  assert.equal(vectors.count("m"), 3);
  assert.deepEqual(vectors.missing("m", "secret", 10).map(({ id }) => id), [two]);
  assert.equal(
    (await faultOf(() => vectors.put("m", [{ key: "k", vector: vector(1) }]))).code,
    "invalidInput",
  );
  const mixed = [{ key: "k", vector: vector(1) }, { key: "l", vector: vector(1, 2) }];
  assert.equal((await faultOf(() => vectors.put("n", mixed))).code, "invalidInput");
  sources.remove("file:/a.md");
  assert.equal(vectors.count("m"), 2);
  close();
});

Deno.test("documents are JSON by name", async () => {
  using rig = makeRig();
  const { store } = await rig.open();
  store.documents.put("run:1", { a: [1, "ü"] });
  store.documents.put("run:2", null);
  store.documents.put("index", 5);
  store.documents.put("run:1", { a: [2] });
  store.close();
  const again = (await rig.open()).store.documents;
  assert.deepEqual(again.get("run:1"), { a: [2] });
  again.remove("run:1");
  assert.deepEqual(["run:1", "run:2", "index"].map(again.get), [undefined, null, 5]);
});
