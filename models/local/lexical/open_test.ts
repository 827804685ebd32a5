import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../../contracts/fault.ts";
import type { TextEmbedder } from "../../../contracts/model.ts";
import { embedderContract } from "../../_fixture/embedder_suite.ts";
import { cosine } from "../../embed/mod.ts";
import { smallLexicon } from "./_fixture/small_lexicon.ts";
import { openLexical } from "./open.ts";

const config = JSON.stringify({ weights: "ab".repeat(32), bytes: 1 });
const signal = new AbortController().signal;

async function vectorsOf(
  texts: readonly string[],
  embedder?: TextEmbedder,
): Promise<readonly Float32Array[]> {
  const opened = embedder ?? await openLexical({ config }, [smallLexicon()]);
  return (await opened.embed(texts, { signal })).vectors;
}

async function nearness(a: string, b: string): Promise<number> {
  const [x = new Float32Array(), y = new Float32Array()] = await vectorsOf([a, b]);
  return cosine(x, y);
}

embedderContract("lexical, a small lexicon,", async () => ({
  embedder: await openLexical({ config }, [smallLexicon()]),
  [Symbol.asyncDispose]: () => Promise.resolve(),
}));

Deno.test("it says what it is: lexical, of this machine, known by its weights", async () => {
  const embedder = await openLexical({ config }, [smallLexicon()]);
  const { id, arch, outputTokens, contextTokens, remote } = await embedder.info();
  assert.deepEqual(
    [id, arch, outputTokens, contextTokens, remote],
    ["lexical:abababababababab", "lexical", 16, 8_192, false],
  );
});

Deno.test("weights may come in pieces of any size", async () => {
  const whole = smallLexicon();
  const expected = await vectorsOf(["a dripping tap"]);
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: whole.length }), async (size) => {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < whole.length; at += size) pieces.push(whole.slice(at, at + size));
    const embedder = await openLexical({ config }, pieces);
    assert.deepEqual(await vectorsOf(["a dripping tap"], embedder), expected);
  }));
});

Deno.test("a text gives the same bits in whatever company it comes", async () => {
  const embedder = await openLexical({ config }, [smallLexicon()]);
  const texts = fc.array(fc.string({ unit: "binary", maxLength: 60 }), { maxLength: 12 });
  await fc.assert(fc.asyncProperty(texts, async (several) => {
    const together = await vectorsOf(several, embedder);
    for (const [n, text] of several.entries()) {
      const [alone] = await vectorsOf([text], embedder);
      assert.deepEqual(alone, together[n]);
      const length = Math.hypot(...(alone ?? []));
      assert.ok(length === 0 || Math.abs(length - 1) < 1e-5);
    }
  }));
});

Deno.test("order, case, endings and small words do not count", async () => {
  assert.ok(await nearness("The TAP was dripping", "drip, taps") > 0.999);
});

Deno.test("a name that no lexicon has matches itself and its kin, not other names", async () => {
  assert.ok(await nearness("Okafor", "okafor") > 0.999);
  assert.ok(await nearness("Okafor", "the Okafors") > 0.4);
  assert.ok(await nearness("Okafor", "Lindqvist") < 0.4);
  assert.ok(await nearness("東京都", "東京") > 0.4);
});

Deno.test("texts that say nothing are all zero", async () => {
  for (const vector of await vectorsOf(["", "and so on, of the …", "!!!", "\ud800"])) {
    assert.ok(vector.every((each) => each === 0));
  }
});

Deno.test("what comes after 8,192 words is not read, and the count says so", async () => {
  const embedder = await openLexical({ config }, [smallLexicon()]);
  const { vectors: [vector], inputTokens } = await embedder.embed(
    [`${"tap ".repeat(8_192)}${"dog ".repeat(9_000)}`],
    { signal },
  );
  assert.equal(inputTokens, 8_192);
  assert.deepEqual(vector, (await vectorsOf(["tap"], embedder))[0]);
});

for (const wrong of ["", "{}", "[]", "null", '{"weights":"x"}', '{"weights":7}']) {
  Deno.test(`the config ${JSON.stringify(wrong)} is refused`, async () => {
    await assert.rejects(
      openLexical({ config: wrong }, [smallLexicon()]),
      (error) => error instanceof Fault && error.code === "invalidInput",
    );
  });
}

Deno.test("without weights, and with others, nothing opens", async () => {
  for (const weights of [[], [new Uint8Array(100)]]) {
    await assert.rejects(
      openLexical({ config }, weights),
      (error) => error instanceof Fault && error.code === "invalidInput",
    );
  }
});
