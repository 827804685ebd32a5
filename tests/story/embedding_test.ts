/** alice compares texts with the embedder that is built in: no key, no network, no rights. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";

Deno.test("alice finds out which texts are near, with no model of her own and none that asks the network", async () => {
  await onMachine(async (machine) => {
    const near = await machine.remit(["model", "embed", "a small dog", "a young puppy"]);
    assert.equal(near.code, 0, near.stderr);
    assert.doesNotMatch(near.stderr, /leaves this machine/);
    const far = await machine.remit(["model", "embed", "a small dog", "the interest on a loan"]);
    assert.match(near.stdout, /^0\.\d{4}\n$/);
    assert.ok(Number(near.stdout) > Number(far.stdout) + 0.1, `${near.stdout} ${far.stdout}`);

    const letters = "The parcel arrived broken.\nWhen do you open?\nMy dog loves the park.\n";
    const ordered = await machine.remit(["model", "embed", "--near", "a puppy", "-"], letters);
    assert.match(ordered.stdout, /^\d\.\d{4} {2}My dog loves the park\.\n/, ordered.stderr);
    const labels = ["--labels", "a dog or another pet, a parcel that is damaged"];
    const sorted = await machine.remit(["model", "embed", ...labels, "-"], letters);
    assert.match(
      sorted.stdout,
      /^[01]\.\d\d {2}a parcel that is damaged {2}The parcel/,
      sorted.stderr,
    );
    assert.match(sorted.stdout, /^[01]\.\d\d {2}a dog or another pet {2}My dog/m);

    const lines = await machine.remit(["model", "embed", "--label", "secret", "-"], "one\ntwo\n");
    assert.equal(lines.code, 0, lines.stderr);
    const vectors = lines.stdout.trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(vectors.map(({ n, vector }) => [n, vector.length]), [[1, 256], [2, 256]]);
    // What runs here sends nothing, so there is nothing on record.
    assert.equal((await machine.remit(["audit", "query"])).stdout, "");
  });
});
