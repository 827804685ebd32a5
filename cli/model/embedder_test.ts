import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { fakePowers } from "../_fixture/world.ts";
import { resolveEmbedder } from "./embedder.ts";
import type { ModelParts } from "./part.ts";
import { placesOf, preparePlaces } from "../../launch/disk/places.ts";

function makeParts(): ModelParts {
  const powers = fakePowers({ env: { OPENAI_API_KEY: "sk-0123456789" } });
  const places = placesOf(powers.environment, undefined);
  const { disk, models, environment, screen } = powers;
  return {
    ...{ disk, models, environment, screen, places },
    modelKeys: [],
    aliases: { mine: "openai:embed-small", old: "lexical" },
    redact: [],
    kept: () => [],
    prepare: () => preparePlaces(disk, places, environment.uid),
  };
}

const isInvalid = (says: RegExp) => (error: unknown): boolean =>
  error instanceof Fault && error.code === "invalidInput" && says.test(error.message);

Deno.test("without a word there is no embedder, and the refusal says how to choose one", async () => {
  await assert.rejects(
    resolveEmbedder(undefined, makeParts()),
    isInvalid(/no embedder is chosen; say "embedder: ollama:NAME" in remit\.yaml/),
  );
});

Deno.test("the built-in embedder of earlier versions is refused with what to choose in its place", async () => {
  for (const text of ["lexical", "lexical:wordnet", "old"]) {
    await assert.rejects(
      resolveEmbedder(text, makeParts()),
      isInvalid(/no built-in one any more; choose another with .*"remit wiki embed"/),
      text,
    );
  }
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
