import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, type Json } from "../../../contracts/base/mod.ts";
import { fakeKeyboard, fakePowers, runCommandLine } from "../../_fixture/world.ts";
import { EMPTY_WIKI, fakeWikis, type WikiOps } from "../../_fixture/wikis.ts";

const D = "a".repeat(64);
const ITEM = (id: string) => ({
  ...{ id, source: `raw/${id}.md`, system: "s".repeat(600), user: "u".repeat(600) },
  ...{ maxTokens: 100, label: "internal", colour: "YELLOW", responseSchema: "{}" },
});
const PATCH = {
  ...{ id: "w000000000001", author: "model:m", reason: "read", changes: [], colour: "YELLOW" },
  ...{ label: "internal", state: "proposed", createdAt: 1 },
};
const body = (value: Json | undefined) => value as Record<string, Json>;

/** A run of three requests, one cent each; what is answered stays answered. */
function work(total = 3) {
  const done = new Set<string>();
  const ops: WikiOps = {
    status: () => EMPTY_WIKI,
    ingestFiles: () => ({ added: 3, changed: 0, unchanged: 0, failed: [] }),
    workPlan: () => ({
      ...{ run: "r1", sources: total, items: total, done: done.size },
      ...{ inputTokens: 1_200, outputTokens: 300, label: "internal" },
    }),
    workNext() {
      const next = ["a", "b", "c"].slice(0, total).find((id) => !done.has(id));
      return next === undefined ? null : ITEM(next);
    },
    workTaken(given) {
      const { item, text } = body(given);
      if (text === "nonsense") return { ok: false, problems: ["it is no JSON"] };
      done.add(String(item));
      return { ok: true, problems: [] };
    },
    workFinish: () => ({ patch: PATCH, contradictions: [] }),
  };
  return { ops, done };
}

function rig(
  ops: WikiOps,
  parts: { readonly types?: readonly string[]; readonly answers?: (n: number) => object } = {},
) {
  let asked = 0;
  const wikis = fakeWikis({ ops });
  const powers = fakePowers({
    wikis,
    ...(parts.types === undefined ? {} : { keyboard: fakeKeyboard(parts.types) }),
    ops: {
      ask: () => ({
        ...{ text: "{}", finishReason: "stop", inputTokens: 400, outputTokens: 100, money: 0.01 },
        ...parts.answers?.(asked++),
      }),
    },
  });
  Deno.writeTextFileSync(join(powers.environment.cwd, "play.yaml"), "steps: []\n");
  Deno.writeTextFileSync(join(powers.environment.cwd, "doc.md"), "# Doc\n");
  return {
    ...{ powers, wikis },
    run: (...argv: string[]) => runCommandLine(argv, powers),
    ops: (op: string) => wikis.seen.asked.filter(([each]) => each === op).map(([, given]) => given),
    said: () => powers.screen.lines.join("\n"),
    out: () => powers.screen.outs.join(""),
  };
}
const MODEL = ["--model", "scripted:play.yaml"];

Deno.test("a model's ingest says files, tokens, price and time first, asks once, and gives one patch", async () => {
  const { ops } = work();
  const at = rig(ops, { types: ["yes"] });
  await at.run("wiki", "init", "w");
  assert.equal(await at.run("wiki", "ingest", "doc.md", ...MODEL), 0);
  assert.match(at.said(), /reads {4}3 sources in 3 requests/);
  assert.match(at.said(), /tokens {3}about 1200 in, at most 300 out/);
  assert.match(at.said(), /price {4}free, on this machine/);
  assert.match(at.said(), /time {5}about \d+ s/);
  assert.match(at.said(), /one patch of 0 pages waits: remit wiki review w000000000001/);
  assert.deepEqual(
    at.ops("workTaken").map((each) => body(each)["item"]),
    ["a", "b", "c"],
  );
  const key = `file:${join(at.powers.environment.cwd, "doc.md")}`;
  assert.deepEqual(body(at.ops("workPlan")[0])["of"], { keys: [key], prefixes: [] });
  const [first] = at.powers.kernels_.last?.asked ?? [];
  assert.deepEqual(
    [first?.[0], body(first?.[1])["label"], body(first?.[1])["responseSchema"]],
    ["ask", "internal", "{}"],
  );
});

Deno.test("without a yes nothing is sent: at a terminal it is typed, elsewhere it is --yes", async () => {
  const no = rig(work().ops, { types: ["no"] });
  await no.run("wiki", "init", "w");
  assert.equal(await no.run("wiki", "ingest", "doc.md", ...MODEL), 64);
  const nobody = rig(work().ops);
  await nobody.run("wiki", "init", "w");
  assert.equal(await nobody.run("wiki", "ingest", "doc.md", ...MODEL), 64);
  assert.match(nobody.said(), /add --yes/);
  assert.equal(no.ops("workNext").length + nobody.ops("workNext").length, 0);
  assert.equal(await nobody.run("wiki", "ingest", "doc.md", ...MODEL, "--yes"), 0);
});

Deno.test("--max-cost stops before it is passed, and a second run goes on from there", async () => {
  const { ops, done } = work();
  const at = rig(ops);
  await at.run("wiki", "init", "w");
  const ingest = (...more: string[]) =>
    at.run("wiki", "ingest", "doc.md", ...MODEL, "--yes", ...more);
  assert.equal(await ingest("--max-cost", "0.015"), 66);
  assert.deepEqual([...done], ["a", "b"]);
  assert.match(
    at.said(),
    /stopped: the next request could pass --max-cost; 0\.02 USD spent, 2 of 3 done/,
  );
  assert.equal(at.ops("workFinish").length, 0);
  assert.equal(await ingest("--max-cost", "1"), 0);
  assert.deepEqual([...done], ["a", "b", "c"]);
  assert.equal(at.ops("workFinish").length, 1);
});

Deno.test("a model that never gives what fits is left, and is no endless bill", async () => {
  const at = rig(work(1).ops, { answers: () => ({ text: "nonsense" }) });
  await at.run("wiki", "init", "w");
  assert.equal(await at.run("wiki", "ingest", "doc.md", ...MODEL, "--yes"), 67);
  assert.equal(at.powers.kernels_.last?.asked.length, 3);
  assert.match(at.said(), /it is no JSON/);
});

const HIT = {
  ...{ kind: "source", file: "raw/lease.md", startLine: 3, endLine: 3, text: "A lease ends." },
  ...{ title: "Lease", headings: [], origin: "/d/lease.md", digest: D, score: 1, stale: false },
  ...{ colour: "YELLOW", label: "internal" },
};
const FOUND = {
  ...{ hits: [HIT], fit: "good" },
  searched: { pages: 0, sources: 1, passages: 1, terms: ["lease"], vectors: false },
};
const CITATION = { note: "1", source: D, startLine: 3, endLine: 3, span: D, file: "raw/lease.md" };
const ANSWER = {
  question: "what is a lease?",
  sentences: [
    { text: "A lease ends.", citations: [CITATION], uncited: false },
    { text: "It is blue.", citations: [], uncited: true },
  ],
  ...{ colour: "YELLOW", label: "internal", dropped: 1 },
};
const answering: WikiOps = {
  answerPlan: () => ({ found: FOUND, ask: ITEM("q") }),
  answerCheck: () => ANSWER,
  answerFile: () => PATCH,
  patch: () => ({ patch: PATCH, diff: "+++ b\n+A lease ends.\n" }),
  decide: () => ({ ...PATCH, state: "applied" }),
};
const QUERY = ["wiki", "query", "what is a lease?", "--answer", ...MODEL];

Deno.test("an answer marks each sentence with its place or as uncited, and is filed by a decision", async () => {
  const at = rig(answering, { types: ["yes"] });
  await at.run("wiki", "init", "w");
  assert.equal(await at.run(...QUERY, "--file"), 0);
  assert.match(
    at.out(),
    /A lease ends\. \[1\] It is blue\. \(uncited\)\n\n {2}\[1\] w\/raw\/lease\.md:3\n/,
  );
  assert.match(
    at.said(),
    /1 of 2 sentences have no citation that holds · 1 citations of the model's/,
  );
  const [filed] = at.ops("answerFile").map(body);
  assert.deepEqual([filed?.["model"], filed?.["by"]], ["scripted:play.yaml", "alice"]);
  assert.deepEqual(at.ops("decide").map((each) => body(each)["apply"]), [true]);
  const alone = rig(answering);
  await alone.run("wiki", "init", "w");
  assert.equal(await alone.run(...QUERY, "--file", "--json"), 0);
  assert.equal(JSON.parse(alone.out().slice(alone.out().indexOf("{"))).patch, PATCH.id);
  assert.equal(alone.ops("decide").length, 0);
});

Deno.test("when nothing fits no model is asked to answer, and --file or --model alone are refused", async () => {
  const none = { ...FOUND, hits: [], fit: "none" };
  const at = rig({ answerPlan: () => ({ found: none, ask: null }) });
  await at.run("wiki", "init", "w");
  assert.equal(await at.run(...QUERY, "--no-expand"), 68);
  assert.equal(at.powers.kernels_.last, undefined);
  assert.equal(await at.run("wiki", "query", "x", "--no-expand"), 2);
  assert.equal(await at.run("wiki", "query", "x", "--file"), 2);
  assert.equal(await at.run("wiki", "query", "x", ...MODEL), 2);
  assert.equal(await at.run("wiki", "ingest", "doc.md", "--max-cost", "1"), 2);
});

const THREE = {
  ...FOUND,
  hits: ["one", "two", "three"].map((text, n) => ({
    ...{ ...HIT, text, startLine: n + 1, endLine: n + 1 },
    ...(n === 1 ? { label: "secret", colour: "RED" } : {}),
  })),
};
const RERANK = ["wiki", "query", "which is it?", "--rerank", ...MODEL];
const placesIn = (out: string): readonly string[] =>
  [...out.matchAll(/raw\/lease\.md:(\d)/g)].map(([, line = ""]) => line);

Deno.test("a model puts the passages in order by their numbers, once, and what it cost is said", async () => {
  const text = '```json\n{"order": [3, 1, 2]}\n```';
  const at = rig({ query: () => THREE }, { answers: () => ({ text }) });
  await at.run("wiki", "init", "w");
  assert.equal(await at.run(...RERANK, "--k", "2"), 0);
  assert.deepEqual(placesIn(at.out()), ["3", "1"]);
  assert.match(at.said(), /in the order of scripted:play\.yaml: 500 tokens, 0\.01 USD/);
  assert.deepEqual(at.ops("query").map((each) => body(each)["k"]), [20]);
  const asked = at.powers.kernels_.last?.asked ?? [];
  assert.deepEqual(asked.map(([op]) => op), ["ask"]);
  const request = body(asked[0]?.[1]);
  // What the passages are goes with them.
  assert.deepEqual([request["label"], request["colour"]], ["secret", "RED"]);
  assert.match(String(request["responseSchema"]), /"maximum":3/);
  assert.equal(JSON.parse(String(request["user"])).passages[1].text, "two");
});

Deno.test("an answer that is no order of all passages, or none at all, leaves them as they were and is told", async () => {
  const bad = ["[1,2,3]", '{"order":[1,2]}', '{"order":[1,1,2]}', '{"order":[0,1,2]}', "", "{"];
  for (const text of [...bad, '{"order":[3,2,1],"text":"pwned"}']) {
    const at = rig({ query: () => THREE }, { answers: () => ({ text }) });
    await at.run("wiki", "init", "w");
    assert.equal(await at.run(...RERANK), 0);
    assert.deepEqual(placesIn(at.out()), ["1", "2", "3"], text);
    assert.match(at.said(), /the order was kept; .*its answer is no order of all passages/);
  }
  const at = rig({ query: () => THREE }, {
    answers: () => {
      throw new Fault("upstream", "Cannot ask: it is gone");
    },
  });
  await at.run("wiki", "init", "w");
  assert.equal(await at.run(...RERANK, "--json"), 0);
  const document = JSON.parse(at.out().slice(at.out().indexOf("{")));
  assert.deepEqual(document.rerank, {
    ...{ model: "scripted:play.yaml", kept: "Cannot ask: it is gone", cost_usd: 0, tokens: 0 },
  });
});

Deno.test("no model is asked for one passage, for none, or where it may cost too much", async () => {
  for (const hits of [[], [HIT]]) {
    const fit = hits.length === 0 ? "none" : "good";
    const at = rig({ query: () => ({ ...FOUND, hits, fit }) });
    await at.run("wiki", "init", "w");
    assert.equal(await at.run(...RERANK), fit === "none" ? 68 : 0);
    assert.equal(at.powers.kernels_.last, undefined);
  }
  const dear = rig({ query: () => THREE });
  await dear.run("wiki", "init", "w");
  const remote = [
    "--model",
    "openai:gpt-x@https://models.example.org/v1",
    "--max-cost",
    "0.000001",
  ];
  assert.equal(await dear.run("wiki", "query", "x", "--rerank", ...remote), 66);
  assert.deepEqual(dear.powers.kernels_.last?.asked ?? [], []);
  assert.equal(await dear.run("wiki", "query", "x", "--rerank", "--answer", ...MODEL), 2);
});

const WORDS = { queries: ["lease duration expiry", "revoke a lease \x1b[2J"] };
const EXPAND = ["wiki", "query", "when does my right end?", "--expand", ...MODEL];

Deno.test("a model words a question that it sees alone; that is shown, paid, searched, and kept for the same question", async () => {
  const at = rig({ query: () => FOUND }, { answers: () => ({ text: JSON.stringify(WORDS) }) });
  await at.run("wiki", "init", "w");
  assert.equal(await at.run(...EXPAND), 0);
  const [asked] = at.powers.kernels_.last?.asked ?? [];
  assert.equal(body(asked?.[1])["user"], '{"question":"when does my right end?"}');
  assert.deepEqual(body(at.ops("query")[0])["queries"], WORDS.queries);
  assert.match(at.said(), /in the words of scripted:play\.yaml \(500 tokens, 0\.01 USD\):/);
  assert.match(at.said(), /lease duration expiry\n.*revoke a lease \\u\{1b\}\[2J/);

  assert.equal(await at.run(...EXPAND, "--json"), 0);
  const document = JSON.parse(at.out().slice(at.out().indexOf("{")));
  assert.deepEqual(document.queries, WORDS.queries);
  const free = { model: "scripted:play.yaml", kept: true, cost_usd: 0, tokens: 0 };
  assert.deepEqual(document.expand, free);
  assert.deepEqual(at.powers.kernels_.last?.asked ?? [], [], "what is kept is not asked again");
  await at.run("wiki", "query", "another question", "--expand", ...MODEL);
  assert.equal(at.powers.kernels_.last?.asked.length, 1);
});

Deno.test("what is no list of phrasings is not searched for: the question is, alone, and it is said", async () => {
  const many = { queries: Array.from({ length: 6 }, (_, n) => `words ${n}`) };
  const bad = ["", "[]", '{"queries":[]}', JSON.stringify(many), '{"queries":["a"],"do":"b"}'];
  for (const text of [...bad, JSON.stringify({ queries: ["x".repeat(301)] })]) {
    const at = rig({ query: () => FOUND }, { answers: () => ({ text }) });
    await at.run("wiki", "init", "w");
    assert.equal(await at.run(...EXPAND), 0);
    assert.equal(body(at.ops("query")[0])["queries"], undefined, text);
    assert.match(at.said(), /searched by the question alone; .*its answer holds no phrasings/);
  }
});

Deno.test("an answer is looked for in a model's words where the question's own find none, within one --max-cost", async () => {
  const none = { ...FOUND, hits: [], fit: "none" };
  const at = rig({
    ...answering,
    answerPlan: (given) =>
      body(given)["queries"] === undefined
        ? { found: none, ask: null }
        : { found: FOUND, ask: ITEM("q") },
  }, { answers: (n) => ({ text: n === 0 ? JSON.stringify(WORDS) : "{}" }) });
  await at.run("wiki", "init", "w");
  assert.equal(await at.run(...QUERY, "--json"), 0);
  assert.deepEqual(at.ops("answerPlan").map((each) => body(each)["queries"]), [
    undefined,
    WORDS.queries,
  ]);
  // What is quoted and what is checked never holds what the model wrote.
  assert.doesNotMatch(JSON.stringify(at.ops("answerCheck")), /lease duration expiry/);

  const paid = rig({
    ...answering,
    answerPlan: () => ({ found: { ...FOUND, fit: "weak" }, ask: ITEM("q") }),
  }, {
    answers: () => ({ text: JSON.stringify(WORDS), money: 0.01 }),
  });
  await paid.run("wiki", "init", "w");
  assert.equal(await paid.run(...QUERY, "--max-cost", "0.005"), 66);
  assert.equal(paid.ops("answerCheck").length, 0, "the phrasings have spent it");
});
