import assert from "node:assert/strict";
import { dirname } from "node:path";
import type { Json } from "../../../contracts/base/mod.ts";
import { fakePowers, runCommandLine } from "../../_fixture/world.ts";
import { placesOf } from "../../../launch/disk/places.ts";

const KEY = "sk-0123456789";

/** Hands that reach a kernel which makes vectors of lengths; remit.yaml names an embedder of this machine. */
function makePowers(input?: string, embedder = "ollama:small"): ReturnType<typeof fakePowers> {
  const powers = fakePowers({
    ...(input === undefined ? {} : { input }),
    env: { OPENAI_API_KEY: KEY },
    ops: {
      lend: () => null,
      embed: (body: Json) => {
        const { texts } = body as { texts: string[] };
        const vectors = texts.map((text) => [text.length, 1]);
        return { model: "e", vectors, inputTokens: texts.length, money: 0 };
      },
    },
  });
  const { config } = placesOf(powers.environment, undefined);
  Deno.mkdirSync(dirname(config), { recursive: true });
  Deno.writeTextFileSync(config, `version: 1\nembedder: ${embedder}\n`);
  return powers;
}

const askedOf = (powers: ReturnType<typeof fakePowers>): readonly (readonly [string, Json])[] =>
  powers.kernels_.last?.asked ?? [];

Deno.test("two texts are compared by the embedder of remit.yaml", async () => {
  const powers = makePowers();
  assert.equal(await runCommandLine(["model", "embed", "abc", "xyz"], powers), 0);
  assert.deepEqual(powers.screen.outs, ["1.0000\n"]);
  const [[op, body] = []] = askedOf(powers);
  assert.equal(op, "embed");
  const { model, ...rest } = body as { model: { ref: string } };
  assert.match(model.ref, /^ollama-embed:small@/);
  assert.deepEqual(rest, { texts: ["abc", "xyz"], label: "internal" });
});

Deno.test("a remit.yaml that names the built-in embedder of earlier versions says what to choose", async () => {
  const powers = makePowers(undefined, "lexical");
  assert.equal(await runCommandLine(["model", "embed", "abc", "xyz"], powers), 2);
  assert.equal(powers.kernels_.last, undefined);
  assert.match(
    powers.screen.lines.join("\n"),
    /Cannot use embedder "lexical": .*"embedder: ollama:NAME" in remit\.yaml/,
  );
});

Deno.test("each line that comes in becomes a line of JSON, 256 texts at a time", async () => {
  const lines = Array.from({ length: 300 }, (_, n) => "x".repeat(n % 7 + 1));
  const powers = makePowers(`${lines.join("\n")}\n\n`);
  assert.equal(await runCommandLine(["model", "embed", "-"], powers), 0);
  const printed = powers.screen.outs.map((line) => JSON.parse(line));
  assert.deepEqual(
    printed,
    lines.map((line, n) => ({ n: n + 1, model: "e", vector: [line.length, 1] })),
  );
  const sizes = askedOf(powers).map(([, body]) => (body as { texts: string[] }).texts.length);
  assert.deepEqual(sizes, [256, 44]);
});

Deno.test("a provider's embedder is announced, and its key lent, before texts go to it", async () => {
  const powers = makePowers();
  const words = ["model", "embed", "--model", "openai:small", "--label", "public", "some text"];
  assert.equal(await runCommandLine(words, powers), 0);
  assert.deepEqual(askedOf(powers).map(([op]) => op), ["lend", "embed"]);
  assert.match(
    powers.screen.lines.join("\n"),
    /leaves this machine for api\.openai\.com, model small/,
  );
  assert.match(powers.screen.lines.join("\n"), /about 3 tokens/);
  assert.ok(!JSON.stringify([powers.screen.lines, powers.screen.outs]).includes(KEY));
});

Deno.test("bob's words that are no embedder, no label or no text are refused before a kernel is asked", async () => {
  for (
    const words of [
      ["model", "embed", "--model", "anthropic:x", "a"],
      ["model", "embed", "--label", "top", "a"],
      ["model", "embed", "-"],
      ["model", "embed"],
    ]
  ) {
    const powers = makePowers("\n \n");
    assert.equal(await runCommandLine(words, powers), 2, words.join(" "));
    assert.equal(powers.kernels_.last, undefined);
  }
});

Deno.test("texts are put in order by how near they are to one, each on one line of safe text", async () => {
  const powers = makePowers("ab\n\x1b[2Jabcdefgh\nabc\n");
  assert.equal(await runCommandLine(["model", "embed", "--near", "abc", "-"], powers), 0);
  const lines = powers.screen.outs.join("").split("\n").slice(0, -1);
  assert.deepEqual(lines.map((line) => line.split("  ")[0]), ["1.0000", "0.9899", "0.9717"]);
  assert.match(lines[0] ?? "", /^1\.0000 {2}abc$/);
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(powers.screen.outs.join(""), /\x1b/);
  const asJson = makePowers("ab\nabc\n");
  assert.equal(await runCommandLine(["model", "embed", "--json", "--near", "abc", "-"], asJson), 0);
  const rows = asJson.screen.outs.join("").trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(rows.map(({ n, text }) => [n, text]), [[2, "abc"], [1, "ab"]]);
});

Deno.test("each text gets the label that fits it best; texts and labels are sent once", async () => {
  const powers = makePowers("a\nabcdefghijkl\n");
  const words = ["model", "embed", "--labels", "x, xxxxxxxxxx", "-"];
  assert.equal(await runCommandLine(words, powers), 0);
  const [first = "", second = ""] = powers.screen.outs.join("").split("\n");
  assert.match(first, /^0\.\d\d {2}x {2}a$/);
  assert.match(second, /^0\.\d\d {2}x{10} {2}abcdefghijkl$/);
  assert.deepEqual(askedOf(powers).map(([, body]) => (body as { texts: string[] }).texts), [
    ["a", "abcdefghijkl", "x", "xxxxxxxxxx"],
  ]);
});

Deno.test("bob's labels that are one, or twice the same, and both wishes at once are refused", async () => {
  for (
    const wish of [["--labels", "one"], ["--labels", "a,a"], ["--labels", "a,b", "--near", "c"]]
  ) {
    const powers = makePowers();
    assert.equal(await runCommandLine(["model", "embed", ...wish, "text"], powers), 2);
    assert.equal(powers.kernels_.last, undefined);
  }
});
