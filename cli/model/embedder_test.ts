import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../port/digest.ts";
import { fakeHands } from "../_fixture/world.ts";
import { type EmbedderParts, resolveEmbedder } from "./embedder.ts";
import { placesOf, preparePlaces } from "../disk/places.ts";
import { weightsPath } from "./weights/store.ts";

const VECTORS = new TextEncoder().encode("vectors");

function makeParts(): EmbedderParts & { readonly root: string } {
  const hands = fakeHands({ env: { OPENAI_API_KEY: "sk-0123456789" } });
  const places = placesOf(hands.around, undefined);
  const { disk, models, around, screen, root } = hands;
  const file = join(root, "lexicon");
  Deno.writeFileSync(file, VECTORS);
  return {
    ...{ disk, models, around, screen, places, root },
    ...{ modelKeys: [], aliases: { mine: "openai:embed-small" }, redact: [], kept: () => [] },
    prepare: () => preparePlaces(disk, places, around.uid),
    lexicon: () => Promise.resolve({ file, sha256: sha256Hex(VECTORS), bytes: VECTORS.length }),
  };
}

Deno.test("without a word the embedder is the built-in one, whose vectors are in the store", async () => {
  const parts = makeParts();
  const part = await resolveEmbedder(undefined, parts);
  assert.deepEqual(part, {
    choice: {
      ref: "lexical:wordnet",
      config: JSON.stringify({ weights: sha256Hex(VECTORS), bytes: VECTORS.length }),
    },
    program: "local",
  });
  assert.deepEqual(parts.disk.read(weightsPath(parts.places, sha256Hex(VECTORS))), VECTORS);
  assert.deepEqual(await resolveEmbedder("lexical", parts), part, "and again");
});

Deno.test("vectors that are not what was pinned do not come into the store", async () => {
  const parts = makeParts();
  Deno.writeTextFileSync(join(parts.root, "lexicon"), "poisons");
  await assert.rejects(resolveEmbedder(undefined, parts), /is not what it was/);
  assert.deepEqual(parts.disk.list(parts.places.models), []);
});

Deno.test("a provider's embedder has a kind and a sink of its own", async () => {
  for (const text of ["mine", "openai:embed-small", "openai-embed:embed-small"]) {
    const { choice, lend, provider } = await resolveEmbedder(text, makeParts());
    assert.equal(choice.ref, "openai-embed:embed-small@https://api.openai.com/v1");
    assert.equal(lend?.name, "env-openai");
    assert.equal(provider?.host, "api.openai.com");
  }
  await assert.rejects(resolveEmbedder("anthropic:x", makeParts()), /makes no vectors/);
});
