import assert from "node:assert/strict";
import { makeMemoryFiles } from "./_fixture/memory_files.ts";
import { makeTwinStore, type TwinStore } from "./_fixture/twin_store.ts";
import { makeWikiSearch } from "./search.ts";

const QUESTIONS = [
  "lease renewal",
  "the secret merger",
  "quarterly figures of the merger",
  "renew",
  "nothing of the kind",
  "when does my tenancy expire",
];
const EMBEDDER = "e";
const AXES = ["lease", "merger", "figur", "renew"];

/** Counts words: enough to be near or far. */
const vectorOf = (text: string): number[] =>
  AXES.map((axis) => text.toLowerCase().split(axis).length - 1 + 0.01);

function fill(twin: TwinStore, secret: boolean): void {
  const page = (name: string, text: string, label: "internal" | "secret") => {
    if (label !== "secret" || secret) twin.putPage({ name, text, label });
  };
  const source = (key: string, text: string, label: "public" | "internal" | "secret") => {
    if (label !== "secret" || secret) twin.putSource({ key, text, label });
  };
  source("m1.md", "The merger of both firms, and its figures.\n", "secret");
  source("a.md", "# Lease\n\nA lease is renewed before it ends.\n", "public");
  page("Merger", "# Merger\n\nThe merger is secret: a lease renewal waits for it.\n", "secret");
  page("Lease", "# Lease\n\nRenewal of a lease takes a question.\n", "internal");
  source("m2.md", "Lease, lease, renewal, renewal of the merger.\n", "secret");
  source("b.md", "Quarterly figures are renewed each quarter.\n", "internal");
  page("Zebra", "# Zebra\n\nQuarterly figures of zebras.\n", "internal");
}

async function answers(secret: boolean): Promise<string> {
  const twin = makeTwinStore();
  fill(twin, secret);
  const search = makeWikiSearch(twin.store, { now: () => 0, files: makeMemoryFiles() });
  const plan = search.embedPlan(EMBEDDER, 100);
  search.embedTaken(EMBEDDER, plan.map(({ key, text }) => ({ key, vector: vectorOf(text) })));
  const found: unknown[] = [];
  // Whoever may see it has asked before.
  await search.query({ text: "merger", k: 5, clearance: "secret" });
  for (const text of QUESTIONS) {
    for (const within of ["pages", "sources", undefined] as const) {
      const vector = { embedder: EMBEDDER, values: vectorOf(text) };
      const q = { text, k: 10, clearance: "internal", ...(within && { within }) } as const;
      found.push(await search.query(q), await search.query({ ...q, vector }));
    }
  }
  twin.close();
  return JSON.stringify(found);
}

Deno.test("mallory's answers at clearance internal are the same, to the byte, with and without secret pages and sources", async () => {
  const without = await answers(false);
  assert.equal(await answers(true), without);
  assert.match(without, /pages\/Lease\.md/);
});

Deno.test("a caller cleared for secret does see them, and one for public sees public alone", async () => {
  const twin = makeTwinStore();
  fill(twin, true);
  const search = makeWikiSearch(twin.store, { now: () => 0, files: makeMemoryFiles() });
  const labels = async (clearance: "public" | "internal" | "secret") => {
    const { hits } = await search.query({ text: "lease renewal merger figures", k: 20, clearance });
    return [...new Set(hits.map(({ label }) => label))].sort();
  };
  assert.deepEqual(await labels("secret"), ["internal", "public", "secret"]);
  assert.deepEqual(await labels("internal"), ["internal", "public"]);
  assert.deepEqual(await labels("public"), ["public"]);
});

Deno.test("a page that becomes secret is gone for who is not cleared, at once", async () => {
  const twin = makeTwinStore();
  const search = makeWikiSearch(twin.store, { now: () => 0, files: makeMemoryFiles() });
  const text = "# Plan\n\nThe plan.\n";
  twin.putPage({ name: "Plan", text });
  const ask = () => search.query({ text: "plan", k: 5, clearance: "internal" });
  assert.equal((await ask()).hits.length, 1);
  twin.putPage({ name: "Plan", text, label: "secret" });
  const { hits, searched } = await ask();
  assert.deepEqual([hits.length, searched.pages, searched.passages], [0, 0, 0]);
});
