import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { readGraph } from "../../scripts/graph.ts";
import {
  type Finding,
  graphFindings,
  type ModuleGraph,
  parseGraph,
  reachedByCode,
} from "../../scripts/house/mod.ts";
import { readTree } from "../../scripts/house/tree.ts";
import { IMPORT_TABLE, isAssembly, partOf } from "../../scripts/import_table.ts";
import { DIGESTED } from "../../launch/program/source_digest_powers.ts";
import { ROOT } from "../../scripts/process.ts";

const edge = (from: string, to: string, typeOnly = false): ModuleGraph[number] => ({
  from,
  to,
  typeOnly,
});
const rules = (findings: readonly Finding[]): readonly string[] => findings.map(({ rule }) => rule);
const sources = readTree(ROOT).map(({ path }) => path)
  .filter((path) => path.endsWith(".ts") && !isAssembly(path));

Deno.test("deno's own module graph keeps the import table, in every file of the repository", async () => {
  const graph = await readGraph(sources);
  ok(graph.length > 100, "the graph was read");
  deepStrictEqual(graphFindings(graph), []);
});

Deno.test("a package that reaches the worker's bundle by any way is found, with the way", () => {
  const found = graphFindings([
    edge("runner/main.ts", "runner/worker.ts"),
    edge("runner/worker.ts", "contracts/mod.ts"),
    edge("contracts/mod.ts", "npm:zod"),
  ]);
  deepStrictEqual(rules(found), ["bundle"]);
  ok(found[0]?.message.includes("runner/worker.ts → contracts/mod.ts → npm:zod"));
});

Deno.test("a type that the worker takes from contracts brings nothing along", () => {
  const found = graphFindings([
    edge("runner/main.ts", "contracts/mod.ts", true),
    edge("contracts/mod.ts", "npm:zod"),
  ]);
  deepStrictEqual(found, []);
});

Deno.test("an edge that the table forbids is found in deno's graph too", () => {
  deepStrictEqual(rules(graphFindings([edge("runner/a.ts", "kernel/mod.ts")])), ["graph"]);
  deepStrictEqual(rules(graphFindings([edge("broker/a.ts", "kernel/mod.ts", true)])), ["graph"]);
});

Deno.test("what deno writes about code, types and packages is read as edges", () => {
  const info = {
    modules: [{
      specifier: "file:///r/a/b.ts",
      dependencies: [
        { specifier: "zod", code: { specifier: "npm:zod@4.6.7" } },
        { specifier: "x", code: { specifier: "npm:/@noble/ed25519@3.2.0" } },
        { specifier: "./c.ts", type: { specifier: "file:///r/a/c.ts" } },
      ],
    }],
  };
  deepStrictEqual(parseGraph(JSON.stringify(info), "file:///r/"), [
    edge("a/b.ts", "npm:zod"),
    edge("a/b.ts", "npm:@noble/ed25519"),
    edge("a/b.ts", "a/c.ts", true),
  ]);
});

Deno.test("what the kernel's programs hold is digested: a change of it builds them anew", async () => {
  const graph = await readGraph(sources);
  const programs = ["kernel", "runner", "workspace/host", "workspace/copy", "models", "net"];
  for (const program of [...programs, "tools-wasm/host"]) {
    const held = [...reachedByCode(graph, `${program}/main.ts`).keys()]
      .filter((path) => path.endsWith(".ts") && !path.includes(":"));
    ok(held.length > 1, program);
    deepStrictEqual(
      held.filter((path) => !DIGESTED.some((folder) => path.startsWith(`${folder}/`))),
      [],
    );
  }
});

Deno.test("every folder that holds code stands in the import table", () => {
  const parts = new Set(sources.map(partOf));
  deepStrictEqual([...parts].filter((part) => IMPORT_TABLE[part] === undefined), []);
});

Deno.test("docs/dependencies.md and deno.json name the same packages and versions", () => {
  const { imports }: { imports: Record<string, string> } = JSON.parse(
    Deno.readTextFileSync(`${ROOT}/deno.json`),
  );
  const table = Deno.readTextFileSync(`${ROOT}/docs/dependencies.md`);
  const rows = [...table.matchAll(/^\| `([^`]+)` +\| ([\w.-]+) +\| [^|]+ \| ([^|]+) \|/gm)];
  const listed = rows.map(([, name, version]) => `${name} npm:${name}@${version}`).sort();
  const pinned = Object.entries(imports).map(([name, specifier]) => `${name} ${specifier}`).sort();
  deepStrictEqual(listed, pinned);
  for (const [, name, , who] of rows) {
    const may = Object.entries(IMPORT_TABLE).filter(([, rule]) => rule.npm.includes(name ?? ""));
    strictEqual(who?.trim(), may.map(([part]) => part).sort().join(", "), `who may import ${name}`);
  }
});
