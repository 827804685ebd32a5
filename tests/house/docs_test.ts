import { deepStrictEqual, ok } from "node:assert/strict";
import { readTree } from "../../scripts/house/tree.ts";
import { ROOT } from "../../scripts/process.ts";

const DOCS = readTree(ROOT).filter(({ path }) =>
  path.endsWith(".md") && !path.startsWith("examples/")
);
const TREE = new Set(readTree(ROOT).map(({ path }) => path));

function exists(path: string): boolean {
  const clean = path.replace(/\/$/, "");
  return TREE.has(clean) || clean === "LICENSE" ||
    [...TREE].some((file) => file.startsWith(`${clean}/`));
}

function resolved(from: string, target: string): string {
  const url = new URL(target, `file:///${from}`);
  return decodeURIComponent(url.pathname.slice(1));
}

Deno.test("every link of the docs leads to a file that is there", () => {
  const broken = DOCS.flatMap(({ path, text }) => {
    const targets = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, target]) => target ?? "");
    return targets.filter((target) => !/^[a-z]+:/.test(target) && !exists(resolved(path, target)))
      .map((target) => `${path}: ${target}`);
  });
  deepStrictEqual(broken, []);
});

Deno.test("every source file that the docs name is there", () => {
  const missing = DOCS.flatMap(({ path, text }) => {
    const named = [...text.matchAll(/`([a-z_-]+\/[a-z0-9_/-]+\.(?:ts|json|yaml))`/g)].map((
      [, file],
    ) => file ?? "");
    return named.filter((file) => !exists(file)).map((file) => `${path}: ${file}`);
  });
  deepStrictEqual(missing, []);
});

Deno.test("every row of the threat model names a test file that is there and holds tests", () => {
  const model = Deno.readTextFileSync(`${ROOT}/docs/threat_model.md`);
  const rows = model.split("\n").filter((line) => /^\| (?!boundary |-)/.test(line));
  ok(rows.length >= 15, "the table was read");
  for (const row of rows) {
    const files = [...row.matchAll(/`([a-z_/0-9-]+_test\.ts)`/g)].map(([, file]) => file ?? "");
    ok(files.length > 0, `no test in: ${row}`);
    for (const file of files) {
      // `attack` and `test` are `Deno.test` where the walls stand (tests/escape/_mcp.ts, kernel/_fixture/session_cases.ts).
      ok(/Deno\.test\(|^ *(?:attack|test)\(/m.test(Deno.readTextFileSync(`${ROOT}/${file}`)), file);
    }
  }
});

Deno.test("each decision says its context, choice, cost and what would change our mind", () => {
  const records = DOCS.filter(({ path }) => path.startsWith("docs/decision/"));
  ok(records.length >= 7);
  for (const { path, text } of records) {
    for (const part of ["Context.", "Choice.", "Cost.", "What would change our mind."]) {
      ok(text.includes(`**${part}**`), `${path} lacks "${part}"`);
    }
  }
});

Deno.test("every decision is in the list of decisions, once, under its own title", () => {
  const list = Deno.readTextFileSync(`${ROOT}/docs/decisions.md`);
  const listed = [...list.matchAll(/^- \[(\d{4})\]\(([^)]+)\) ([^]*?)(?=\n-|\n\n|\n$)/gm)]
    .map(([, number, link, title]) => `docs/${link} # ${number} ${title?.replaceAll(/\s+/g, " ")}`);
  const records = DOCS.filter(({ path }) => path.startsWith("docs/decision/"))
    .map(({ path, text }) => `${path} ${text.split("\n", 1)[0]}`);
  deepStrictEqual(listed.toSorted(), records.toSorted());
});
