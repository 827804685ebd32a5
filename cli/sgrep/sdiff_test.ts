import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import type { Json } from "../../contracts/base/mod.ts";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
import { joinClaims } from "./sdiff_claims.ts";
import { isSameStructure, outlineOf, structureDiff } from "./sdiff_structure.ts";

const OLD = `---
title: Fusion
---
# Fusion

It is far away.

## Results

NIF made 3.15 MJ, because the target was round.

## Outlook

However, ignition remains theoretical. Therefore nobody builds a plant.

## Costs of each method in detail

Lasers cost more than magnets do, and magnets cost more than wires do, by far.
`;
const NEW = `# Fusion

It is far away.

## Outlook

For example, a plant is built.

## Results

NIF made 3.15 MJ, because the target was round.

## Prices

Lasers cost more than magnets do, and magnets cost more than wires do, by far.

## History

First there was a star.
`;

Deno.test("structure: sections that are new, gone, renamed, moved and changed are told apart", () => {
  const diff = structureDiff(OLD, NEW);
  const names = (list: readonly { readonly section: string }[]) => list.map((each) => each.section);
  assert.deepEqual(names(diff.added_sections), ["Fusion > History"]);
  assert.deepEqual(diff.removed_sections, []);
  assert.deepEqual(
    diff.renamed_sections.map(({ before, after }) => [before.section, after.section]),
    [["Fusion > Costs of each method in detail", "Fusion > Prices"]],
  );
  assert.deepEqual(diff.moved_sections.length, 1);
  const [changed] = diff.changed_sections;
  assert.deepEqual(
    [changed?.section, changed?.flow.before, changed?.flow.after, changed?.before_line],
    ["Fusion > Outlook", ["contrast", "consequence"], ["example"], 12],
  );
});

Deno.test("a document has the structure of itself, whatever it holds, and the answer is always the same", () => {
  const line = fc.constantFrom(
    "# A",
    "## B",
    "## B",
    "A",
    "---",
    "===",
    "```",
    "- item",
    "",
    "So it is.",
  );
  const text = fc.array(line, { maxLength: 30 }).map((lines) => lines.join("\n"));
  fc.assert(fc.property(text, text, (a, b) => {
    assert.ok(isSameStructure(structureDiff(a, a)));
    const diff = structureDiff(a, b);
    assert.deepEqual(structureDiff(a, b), diff);
    const [before, after] = [outlineOf(a).length, outlineOf(b).length];
    assert.equal(before - diff.removed_sections.length, after - diff.added_sections.length);
  }));
});

Deno.test("headings in code are code, underlined ones are headings", () => {
  const text = "Title\n=====\n\ntext\n\nPart\n----\n\n```\n# no heading\n```\n";
  assert.deepEqual(outlineOf(text).map(({ path, line, code }) => [path.join(">"), line, code]), [
    ["Title", 1, 0],
    ["Title>Part", 6, 1],
  ]);
});

Deno.test("claims are joined by numbers alone: what a model makes up is no pair", () => {
  const diff = joinClaims(["a", "b", "c"], ["A", "B2", "new"], [
    { before: 1, after: 1, change: "same" },
    { before: 2, after: 2, change: "factual_update" },
    { before: 2, after: 3, change: "negated" },
    { before: 9, after: 1, change: "negated" },
    { before: 3, after: 44, change: "same" },
  ]);
  assert.deepEqual(diff, {
    added_claims: ["new"],
    removed_claims: ["c"],
    modified_claims: [{ before: "b", after: "B2", change_type: "factual_update" }],
  });
});

function rig(answers: readonly unknown[]) {
  const left = [...answers];
  const powers = fakePowers({
    ops: {
      ask: () => ({
        ...{ text: JSON.stringify(left.shift()), finishReason: "stop", inputTokens: 100 },
        ...{ outputTokens: 20, money: 0.002 },
      }),
    },
  });
  for (
    const [name, text] of [["old.md", OLD], ["new.md", NEW], ["play.yaml", "steps: []\n"]] as const
  ) {
    Deno.writeTextFileSync(join(powers.environment.cwd, name), text);
  }
  return {
    powers,
    run: (...argv: string[]) => runCommandLine(["sdiff", ...argv], powers),
    json: (): Record<string, Json> => JSON.parse(powers.screen.outs.at(-1) ?? ""),
    said: () => powers.screen.lines.join("\n"),
  };
}
const MODEL = ["--model", "scripted:play.yaml"];

Deno.test("sdiff needs a mode; structure needs no model; 1 says that they differ, 0 that they do not", async () => {
  const at = rig([]);
  assert.equal(await at.run("old.md", "new.md"), 2);
  assert.match(
    at.said(),
    /no default[\s\S]*structure {2}headings[\s\S]*three requests[\s\S]*two requests/,
  );
  assert.equal(await at.run("--mode", "structure", "old.md", "new.md", "--json"), 1);
  const { mode, model, cost_usd, tokens } = at.json();
  assert.deepEqual([mode, model, cost_usd, tokens], ["structure", null, 0, 0]);
  assert.equal(await at.run("--mode", "structure", "old.md", "old.md"), 0);
  assert.equal(at.powers.kernels_.last, undefined);
  assert.equal(await at.run("--mode", "structure", "old.md", "gone.md"), 2);
});

Deno.test("claims: the document of the seed, with what it cost", async () => {
  const at = rig([
    { claims: ["NIF produced 3.15 MJ", "Ignition remains theoretical"] },
    { claims: ["NIF produced 5.2 MJ", "Fusion achieved ignition in 2024"] },
    { pairs: [{ before: 1, after: 1, change: "factual_update" }] },
  ]);
  assert.equal(await at.run("--mode", "claims", ...MODEL, "--json", "old.md", "new.md"), 1);
  assert.deepEqual(at.json(), {
    mode: "claims",
    model: "scripted:play.yaml",
    added_claims: ["Fusion achieved ignition in 2024"],
    removed_claims: ["Ignition remains theoretical"],
    modified_claims: [
      {
        before: "NIF produced 3.15 MJ",
        after: "NIF produced 5.2 MJ",
        change_type: "factual_update",
      },
    ],
    cost_usd: 0.006,
    tokens: 360,
  });
});

Deno.test("summary compares sentence by sentence; an answer that does not fit is a fault of the model's", async () => {
  const same = { sentences: ["It is far away."] };
  const at = rig([same, same]);
  assert.equal(await at.run("--mode", "summary", ...MODEL, "old.md", "new.md"), 0);
  const wrong = rig(["no"]);
  assert.equal(await wrong.run("--mode", "summary", ...MODEL, "old.md", "new.md"), 67);
});
