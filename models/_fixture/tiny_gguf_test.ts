import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { makeTinyGguf } from "./tiny_gguf.ts";

Deno.test("the tiny model is under a megabyte, and the same bytes on every machine for the same seed", () => {
  const file = makeTinyGguf({ seed: 7 });
  assert.ok(file.length < 1_000_000);
  assert.equal(
    createHash("sha256").update(file).digest("hex"),
    "67979d67636155a62a79684e3a157e369095849ba971bf957d753e28fbf31cb0",
  );
  assert.notDeepEqual(makeTinyGguf({ seed: 8 }), file);
});
