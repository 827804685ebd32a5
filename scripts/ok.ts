/**
 * `deno task ok`: every check of the code that does not run it. Prints one line per check and stops
 * at the first that fails, with all its findings.
 * @module
 */
import { readGraph } from "./graph.ts";
import { graphFindings } from "./house/mod.ts";
import { isSource } from "./house/source.ts";
import { readTree, type TextFile } from "./house/tree.ts";
import { findingLine, lintTree } from "./house_lint.ts";
import { measure, sizeFindings } from "./size.ts";
import { cachePackages, print, ROOT, runDeno } from "./process.ts";

/** The result of a step: `failed` holds the findings; `note` goes on the step's line. */
type Verdict = { readonly failed?: string; readonly note?: string };
type Step = { readonly name: string; readonly run: () => Promise<Verdict> };

const files = readTree(ROOT);
const sources = files.map(({ path }) => path).filter(isSource);

const STEPS: readonly Step[] = [
  { name: "packages", run: async () => said(await cachePackages()) },
  { name: "fmt", run: async () => said(await runDeno(["fmt", "--check"])) },
  { name: "lint", run: async () => said(await runDeno(["lint", "--quiet"])) },
  { name: "house lint", run: () => Promise.resolve(house(files)) },
  { name: "graph, size", run: graph },
  { name: "check", run: async () => said(await runDeno(["check", "--quiet", ...sources])) },
  {
    name: "doc examples",
    run: async () => said(await runDeno(["check", "--quiet", "--doc-only", ...doors()])),
  },
];

function said({ code, output }: { readonly code: number; readonly output: string }): Verdict {
  return code === 0 ? {} : { failed: output };
}

function doors(): readonly string[] {
  return sources.filter((path) => path.endsWith("/mod.ts"));
}

function house(tree: readonly TextFile[]): Verdict {
  const findings = lintTree(tree);
  const errors = findings.filter(({ level }) => level === "error");
  if (errors.length > 0) return { failed: errors.map(findingLine).join("\n") };
  return { note: findings.map(({ path, message }) => `${path} ${message}`).join(", ") };
}

async function graph(): Promise<Verdict> {
  const edges = await readGraph(sources);
  const findings = [...graphFindings(edges), ...sizeFindings(measure(files, edges))];
  if (findings.length > 0) return { failed: findings.map(findingLine).join("\n") };
  return { note: `${sources.length} files, ${edges.length} edges` };
}

if (import.meta.main) {
  for (const { name, run } of STEPS) {
    const started = performance.now();
    const { failed, note } = await run();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const state = failed === undefined ? "ok  " : "FAIL";
    print(
      `${state}  ${name.padEnd(13)} ${seconds.padStart(5)} s  ${note ?? ""}`.trimEnd() + "\n",
    );
    if (failed === undefined) continue;
    print(`${failed.trimEnd()}\n`);
    Deno.exit(1);
  }
}
