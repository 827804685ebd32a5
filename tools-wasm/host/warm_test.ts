import assert from "node:assert/strict";
import { assembleFile } from "./_fixture/assemble.ts";
import { sha256 } from "./host_powers.ts";
import { warm, WARM_PLUGIN } from "./warm.ts";

Deno.test("the plugin that warms a pooled host is _fixture/warm.wat", () => {
  assert.equal(assembleFile("warm").toBase64(), WARM_PLUGIN);
});

Deno.test("warming comes to its end with powers alone", async () => {
  await warm({ now: () => 1, random: () => "", sha256 });
});
