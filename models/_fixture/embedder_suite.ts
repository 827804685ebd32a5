/** The contract suite of TextEmbedder: the claims that every embedder must meet. @module */
import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { ModelInfo, type TextEmbedder } from "../../contracts/model/model.ts";
import { cosine } from "../embed/mod.ts";

/** An embedder under test, with its resources. */
export interface OpenEmbedder extends AsyncDisposable {
  readonly embedder: TextEmbedder;
}

/** Properties in which embedders under test differ. */
export interface EmbedderTraits {
  /** Maximum difference between two vectors of one text, for each number: 0 where every bit is the same. */
  readonly tolerance?: number;
  /** Whether similar meanings give similar vectors (random weights do not). */
  readonly meaning?: boolean;
}

const TEXTS = [
  "The faucet in the kitchen is leaking.",
  "A tap drips beside the sink.",
  "Dividends are paid in spring.",
  "日本語の文章もここにある。",
  "Zoë née Müller, naïve façade, Ελλάδα",
  "a",
  "word ".repeat(400),
];

function closeTo(a: Float32Array, b: Float32Array, tolerance: number): void {
  assert.equal(a.length, b.length);
  a.forEach((each, n) => assert.ok(Math.abs(each - (b[n] ?? NaN)) <= tolerance, `number ${n}`));
}

const live = (): { readonly signal: AbortSignal } => ({ signal: new AbortController().signal });

/** Registers the suite's tests under `name`; each opens an embedder of its own. */
export function embedderContract(
  name: string,
  open: () => Promise<OpenEmbedder>,
  { tolerance = 0, meaning = true }: EmbedderTraits = {},
): void {
  const check = (claim: string, work: (embedder: TextEmbedder) => Promise<void>): void => {
    Deno.test(`${name} embedder: ${claim}`, async () => {
      await using opened = await open();
      await work(opened.embedder);
    });
  };

  check("says what it is, within the contract's limits", async (embedder) => {
    const info = ModelInfo.parse(await embedder.info());
    assert.equal(info.supportsTools, false);
    assert.deepEqual(await embedder.info(), info);
  });

  check("gives a vector for each text, in order, of the length that it said", async (embedder) => {
    const { outputTokens } = await embedder.info();
    const { vectors, inputTokens } = await embedder.embed(TEXTS, live());
    assert.equal(vectors.length, TEXTS.length);
    assert.ok(vectors.every((vector) => vector.length === outputTokens));
    assert.ok(Number.isSafeInteger(inputTokens) && inputTokens >= 0);
    const alone = await embedder.embed([TEXTS[2] ?? ""], live());
    closeTo(alone.vectors[0] ?? new Float32Array(), vectors[2] ?? new Float32Array(), tolerance);
  });

  check("gives vectors of length 1 or 0, and numbers only", async (embedder) => {
    const { vectors } = await embedder.embed([...TEXTS, "", " \n\t", "\u{1f600}"], live());
    for (const vector of vectors) {
      assert.ok(vector.every(Number.isFinite));
      const length = Math.hypot(...vector);
      assert.ok(length === 0 || Math.abs(length - 1) < 1e-3, `length ${length}`);
    }
  });

  check("gives the same vectors again, whatever was asked in between", async (embedder) => {
    const before = await embedder.embed(TEXTS, live());
    await embedder.embed(["something else", "and more"], live());
    const turned = await embedder.embed(TEXTS.toReversed(), live());
    before.vectors.forEach((vector, n) => {
      closeTo(turned.vectors[TEXTS.length - 1 - n] ?? new Float32Array(), vector, tolerance);
    });
  });

  check("serves requests that overlap, each with its own", async (embedder) => {
    const whole = await embedder.embed(TEXTS, live());
    const each = await Promise.all(TEXTS.map((text) => embedder.embed([text], live())));
    each.forEach(({ vectors }, n) => {
      closeTo(
        vectors[0] ?? new Float32Array(),
        whole.vectors[n] ?? new Float32Array(),
        tolerance,
      );
    });
  });

  check("gives nothing for nothing", async (embedder) => {
    const { vectors } = await embedder.embed([], live());
    assert.deepEqual(vectors, []);
  });

  check("takes text that is no text: lone surrogates, NUL, a very long one", async (embedder) => {
    const odd = ["\ud800", "a\udc00b", "\0", "\u202e\u2066", "x".repeat(200_000)];
    const { vectors } = await embedder.embed(odd, live());
    assert.equal(vectors.length, odd.length);
    assert.ok(vectors.every((vector) => vector.every(Number.isFinite)));
  });

  check("refuses more than 256 texts", async (embedder) => {
    await assert.rejects(
      embedder.embed(new Array<string>(257).fill("a"), live()),
      (error) => error instanceof Fault && error.code === "tooLarge",
    );
  });

  check("is cancelled before it begins", async (embedder) => {
    await assert.rejects(
      embedder.embed(TEXTS, { signal: AbortSignal.abort() }),
      (error) => error instanceof Fault && error.code === "cancelled",
    );
    assert.equal((await embedder.embed(["still there"], live())).vectors.length, 1);
  });

  if (!meaning) return;
  check("puts texts that mean alike nearer than others", async (embedder) => {
    const { vectors: [leak, drip, money] } = await embedder.embed(TEXTS.slice(0, 3), live());
    const none = new Float32Array();
    const [near, far] = [cosine(leak ?? none, drip ?? none), cosine(leak ?? none, money ?? none)];
    assert.ok(near > far, `${near} is not above ${far}`);
  });
}
