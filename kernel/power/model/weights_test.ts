import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { feedWeights, readWeights } from "./weights.ts";
import { WEIGHTS_POWERS } from "./weights_powers.ts";

async function onFile(
  bytes: Uint8Array,
  f: (path: string, sha256: string) => Promise<void>,
): Promise<void> {
  const path = await Deno.makeTempFile({ prefix: "remit-weights-" });
  try {
    await Deno.writeFile(path, bytes);
    await f(path, createHash("sha256").update(bytes).digest("hex"));
  } finally {
    await Deno.remove(path);
  }
}

const BYTES = Uint8Array.from({ length: 2_500_000 }, (_, n) => (n * 31) % 251);

Deno.test("weights arrive whole, in order, in pieces of a mebibyte", async () => {
  await onFile(BYTES, async (file, sha256) => {
    const came: Uint8Array[] = [];
    const port = {
      ask(op: string, body: unknown) {
        const { at, base64 } = body as { at: number; base64: string };
        assert.equal(op, "weights");
        assert.equal(at, came.reduce((sum, each) => sum + each.length, 0));
        came.push(Uint8Array.fromBase64(base64));
        return Promise.resolve(null);
      },
    };
    await feedWeights({ file, sha256, bytes: BYTES.length }, WEIGHTS_POWERS, port);
    assert.deepEqual(came.map((each) => each.length), [1_048_576, 1_048_576, 402_848]);
    assert.deepEqual(new Uint8Array(await new Blob(came as BlobPart[]).arrayBuffer()), BYTES);
  });
});

Deno.test("mallory changes, cuts or lengthens weights: they are not what they were", async () => {
  const changed = BYTES.slice();
  changed[2_000_000] = (changed[2_000_000] ?? 0) ^ 1;
  const longer = new Uint8Array(BYTES.length + 1);
  longer.set(BYTES);
  await onFile(BYTES, async (_, sha256) => {
    for (const bytes of [changed, BYTES.subarray(0, -1), longer, new Uint8Array(0)]) {
      await onFile(bytes, async (file) => {
        await assert.rejects(
          readWeights({ file, sha256, bytes: BYTES.length }, WEIGHTS_POWERS),
          { code: "storeCorrupt" },
        );
      });
    }
  });
});

Deno.test("weights that are gone say how to see what there is", async () => {
  const gone = { file: "/nowhere/x.gguf", sha256: "0".repeat(64), bytes: 1 };
  await assert.rejects(readWeights(gone, WEIGHTS_POWERS), { code: "notFound" });
});
