import assert from "node:assert/strict";
import { processorTime } from "../../tests/fake/processor_time.ts";
import { makeTwin } from "./_fixture/twin.ts";
import { likeClaims, makeJudgedPairs } from "./like_claims.ts";

const ALL = { clearance: "secret", limit: 100 } as const;
const FILLER = Array.from(
  { length: 30 },
  (_, n) => `Module m${n} handles topic t${n} with part p${n} and tool q${n}.`,
);

function twin() {
  const store = makeTwin();
  const quotes = FILLER.map((line) => `${line}\n`).join("\n");
  store.page("filler", `# Filler\n\n${quotes}`);
  store.page("lease", "# Lease\n\nA revoked lease stops the running server at its next access.\n");
  return store;
}

Deno.test("claims of two pages about one thing are a pair with both places; others are none", () => {
  const store = twin();
  store.page("server", "# Server\n\nThe server keeps running when its lease was revoked.\n");
  const [pair, ...rest] = likeClaims(store, ALL);
  assert.deepEqual(
    [pair?.a.file, pair?.a.line, pair?.b.file, rest.length],
    ["pages/lease.md", pair?.a.line, "pages/server.md", 0],
  );
  assert.match(pair?.b.text ?? "", /keeps running/);
});

Deno.test("the same words on many pages are one claim, and what cites the same lines is no pair", () => {
  const store = twin();
  const source = store.source("a.md", "The server runs on when its lease was revoked.\n");
  const note = `[^1]: [a.md](../${source.raw}#L1) line 1 of sha256:${source.digest.slice(0, 16)}`;
  store.page("copy", "# Copy\n\nA revoked lease stops the running server at its next access.\n");
  store.page("x", `# X\n\nThe server runs on when the lease was revoked.[^1]\n\n${note}\n`);
  store.page("y", `# Y\n\nRevoked leases leave the server running.[^1]\n\n${note}\n`);
  const pairs = likeClaims(store, ALL).map(({ a, b }) => `${a.file} ${b.file}`);
  assert.ok(pairs.every((each) => !each.includes("lease.md")), pairs.join());
  assert.ok(!pairs.includes("pages/x.md pages/y.md"), pairs.join());
  assert.ok(pairs.includes("pages/copy.md pages/x.md"), pairs.join());
});

Deno.test("a pair has the highest label and the lowest colour of its pages, and is not there below it", () => {
  const store = twin();
  const body = "# Plan\n\nThe server keeps running when its lease was revoked.\n";
  store.page("plan", body, { label: "secret", colour: "RED" });
  const [pair] = likeClaims(store, ALL);
  assert.deepEqual([pair?.label, pair?.colour], ["secret", "RED"]);
  assert.deepEqual(likeClaims(store, { ...ALL, clearance: "internal" }), []);
});

Deno.test("what a model said of a pair holds for its words, wherever they stand, and for no other words", () => {
  const store = twin();
  const documents = new Map<string, unknown>();
  const kept = {
    pages: store.pages,
    documents: {
      get: (name: string) => documents.get(name),
      put: (name: string, value: unknown) => void documents.set(name, value),
    },
  };
  store.page("server", "# Server\n\nThe server keeps running when its lease was revoked.\n");
  const judged = makeJudgedPairs(kept, "m");
  const [pair] = judged.list("secret");
  assert.equal(pair?.why, undefined);
  judged.keep([{ id: pair?.id ?? "", why: "it stops, it runs" }]);
  store.page("server", "# Server\n\n\n\nThe server keeps running, when its lease was revoked.\n");
  assert.equal(judged.list("secret")[0]?.why, "it stops, it runs");
  assert.equal(makeJudgedPairs(kept, "other").list("secret")[0]?.why, undefined);
  store.page("server", "# Server\n\nThe server ends when its running lease was revoked.\n");
  assert.equal(judged.list("secret")[0]?.why, undefined);
});

Deno.test("thousands of like claims are compared in time that grows with claims", () => {
  const store = makeTwin();
  for (let n = 0; n < 200; n++) {
    const claims = Array.from(
      { length: 20 },
      (_, m) => `The lease of srv${n} ends after access key${m} of area zone${n}.`,
    );
    store.page(`p${n}`, `# P${n}\n\n${claims.join("\n\n")}\n`);
  }
  const before = processorTime();
  assert.equal(likeClaims(store, ALL).length, 100);
  assert.ok(processorTime() - before < 20_000);
});
