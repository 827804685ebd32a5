import assert from "node:assert/strict";
import { body, PATCH, rig } from "../_fixture/rig.ts";
import { verdictsOf } from "./lint.ts";

const MODEL = ["--model", "scripted:play.yaml"];
const idOf = (n: number): string => n.toString(16).padStart(24, "0");
const pair = (n: number, more: object = {}) => ({
  ...{ id: idOf(n), label: "internal", colour: "YELLOW" },
  a: { file: "pages/lease.md", line: n, text: `A lease number ${n} ends after a minute.` },
  b: { file: "pages/grant.md", line: n, text: `Lease ${n} lasts until it is revoked.` },
  ...more,
});
const finding = (n: number, why: string) => JSON.stringify({ contradictions: [{ pair: n, why }] });

/** A process that keeps what it is told of pairs. */
function lintOps(pairs: readonly ReturnType<typeof pair>[]) {
  const said = new Map<string, string>();
  return {
    lint: () => [],
    lintFix: () => [PATCH],
    lintPairs: () => pairs.map((each) => ({ ...each, ...whyOf(said.get(each.id)) })),
    lintJudged(given: unknown) {
      const { verdicts } = given as { verdicts: { id: string; why: string }[] };
      for (const { id, why } of verdicts) said.set(id, why);
      return null;
    },
  };
}
const whyOf = (why: string | undefined) => why === undefined ? {} : { why };

Deno.test("alice has a model look for contradictions: she is told what it takes, and each is a warning at its place", async () => {
  const pairs = Array.from({ length: 14 }, (_, n) => pair(n + 1));
  const at = await rig({
    ops: lintOps(pairs),
    types: ["yes"],
    says: (n) => n === 0 ? finding(2, "a minute is\x1b[2J not until revoked") : finding(1, "both"),
  });
  at.work("play.yaml", "steps: []\n");
  assert.equal(await at.run("lint", ...MODEL), 0);
  assert.match(at.said(), /reads {4}14 pairs of like claims in 2 requests/);
  assert.match(at.said(), /price {4}free, on this machine/);
  assert.match(at.out(), /pages\/lease\.md:2: warning contradiction: scripted:play\.yaml says/);
  assert.match(at.out(), /not until revoked; see w\/pages\/grant\.md:2/);
  assert.match(at.out(), /pages\/lease\.md:13: warning contradiction/);
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(at.out(), /\x1b/);
  const [first] = at.questions();
  assert.equal(JSON.parse(String(first?.["user"]))[1].one, pairs[1]?.a.text);
  assert.deepEqual([first?.["label"], first?.["colour"]], ["internal", "YELLOW"]);

  // What was judged is told again, and not paid for again.
  assert.equal(await at.run("lint", ...MODEL, "--json"), 0);
  const document = JSON.parse(at.powers.screen.outs.at(-1) ?? "");
  assert.deepEqual([document.warnings, document.model.cost_usd, document.model.left], [2, 0, 0]);
  assert.equal(at.asked("lintJudged").length, 2);
});

Deno.test("money that runs out and answers that do not fit leave pairs for the next time, and the rest stands", async () => {
  const pairs = Array.from({ length: 25 }, (_, n) => pair(n + 1));
  const at = await rig({
    ops: lintOps(pairs),
    says: (n) => n === 0 ? finding(1, "both") : n === 1 ? "nonsense" : '{"contradictions":[]}',
  });
  at.work("play.yaml", "steps: []\n");
  assert.equal(await at.run("lint", ...MODEL), 64);
  assert.match(at.said(), /add --yes/);
  assert.equal(await at.run("lint", ...MODEL, "--yes"), 0);
  assert.match(at.said(), /12 pairs not compared: the model's answer does not fit; the same/);
  assert.match(at.out(), /warning contradiction/);
  const remote = ["--model", "openai:gpt-x@https://models.example.org/v1"];
  assert.equal(await at.run("lint", ...remote, "--yes", "--max-cost", "0.000001"), 0);
  assert.match(
    at.said(),
    /25 pairs not compared: the next request could pass --max-cost|--max-cost/,
  );
  assert.equal(at.asked("lintJudged").length, 2);
});

Deno.test("secret claims never share a request with others, and carry their label", async () => {
  const pairs = [pair(1), pair(2, { label: "secret", colour: "RED" }), pair(3)];
  const at = await rig({ ops: lintOps(pairs), says: () => '{"contradictions":[]}' });
  at.work("play.yaml", "steps: []\n");
  assert.equal(await at.run("lint", ...MODEL, "--yes"), 0);
  const asked = at.questions().map(({ label, user }) => [label, JSON.parse(String(user)).length]);
  assert.deepEqual(asked, [["internal", 2], ["secret", 1]]);
  assert.deepEqual(body(at.asked("lintPairs")[0])["clearance"], "secret");
});

Deno.test("--max-cost without a model, and a model for another rule, are refused", async () => {
  const at = await rig({ ops: lintOps([]) });
  assert.equal(await at.run("lint", "--max-cost", "1"), 2);
  assert.equal(await at.run("lint", ...MODEL, "--rule", "stalePage"), 2);
});

Deno.test("a model's answer names pairs that it was shown, or it is none", () => {
  assert.deepEqual([...verdictsOf(finding(2, "x"), 3) ?? []], [[2, "x"]]);
  assert.deepEqual([...verdictsOf('{"contradictions":[]}', 3) ?? [[0, ""]]], []);
  const bad = ["", "{", "[]", '{"contradictions":[1]}', finding(4, "x"), finding(0, "x")];
  for (const text of [...bad, '{"contradictions":[],"text":"pwned"}']) {
    assert.equal(verdictsOf(text, 3), undefined, text);
  }
});
