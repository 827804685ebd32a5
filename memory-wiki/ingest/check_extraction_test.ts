import assert from "node:assert/strict";
import { checkExtraction, type ShownPart } from "./check_extraction.ts";
import bad from "./_fixture/bad_claims.json" with { type: "text" };
import badShape from "./_fixture/bad_shape.json" with { type: "text" };
import good from "./_fixture/good.json" with { type: "text" };

const part: ShownPart = {
  from: 1,
  to: 8,
  lines: [
    "# Leases",
    "",
    "A lease ends after 30   seconds",
    "unless it is renewed.",
    "",
    "The broker revokes a lease when its task ends.",
    "",
    "The end.",
  ],
  pages: [{ name: "lease", claims: ["A lease never ends."] }],
};

Deno.test("an answer whose quotes stand in its lines is kept whole", () => {
  const { extraction, problems } = checkExtraction(good, part);
  assert.deepEqual(problems, []);
  assert.equal(extraction?.claims.length, 2);
  assert.equal(extraction.relations.length, 1);
  assert.equal(extraction.contradictions.length, 1);
});

Deno.test("within a code fence and with words around it an answer is read the same", () => {
  const { extraction } = checkExtraction(`Here it is:\n\`\`\`json\n${good}\n\`\`\`\nDone.`, part);
  assert.equal(extraction?.claims.length, 2);
});

Deno.test("of a bad answer only what holds is kept, and each problem is told with its place", () => {
  const { extraction, problems } = checkExtraction(bad, part);
  assert.deepEqual(extraction?.claims.map(({ startLine }) => startLine), [3]);
  assert.deepEqual(extraction.entities, []);
  assert.deepEqual(extraction.relations, []);
  assert.deepEqual(extraction.contradictions, []);
  assert.deepEqual(problems, [
    "claims[1]: lines 3-99: only lines 1-8 were shown",
    "claims[2]: lines 6-6: the quote does not stand there word for word",
    "claims[3]: lines 3-4: the number 45 does not stand there",
    "claims[4]: lines 6-6: too few of its words stand there; say it in the source's words",
    "claims[5]: lines 4-3: the last line is before the first",
    'entities[0]: "Kubernetes" is not named in what was shown',
    'contradictions[0]: the page "lease" was not shown to say that',
    'contradictions[1]: no page "passwords" was shown',
  ]);
});

Deno.test("an answer of another shape is no answer, and says what is wrong with it", () => {
  const { extraction, problems } = checkExtraction(badShape, part);
  assert.equal(extraction, undefined);
  assert.ok(problems.some((each) => each.startsWith("version:")), problems.join("\n"));
  assert.ok(problems.some((each) => each.startsWith("claims.0.startLine:")));
  assert.ok(problems.some((each) => each.startsWith("pages.0.kind:")));
});

Deno.test("no answer at all, one without end and one of a million brackets are refused quickly", () => {
  for (const text of ["", "I will not.", `{"version": 1, "claims": [`, "{".repeat(1_000_000)]) {
    const { extraction, problems } = checkExtraction(text, part);
    assert.equal(extraction, undefined);
    assert.ok(problems.length > 0);
  }
  const many = JSON.stringify({
    ...JSON.parse(good),
    claims: Array.from({ length: 5_000 }, () => JSON.parse(good).claims[0]),
  });
  assert.equal(checkExtraction(many, part).extraction, undefined);
});
