/**
 * The house lint over the whole repository: `deno run -R scripts/house_lint.ts [--by-folder]`.
 * Prints each finding as `path:line rule: message` and ends with 1 when one of them is an error.
 *
 * @module
 */
import { type Finding, lintFile } from "./house/mod.ts";
import { readTree, type TextFile } from "./house/tree.ts";
import { partOf } from "./import_table.ts";

/** Findings of all files. */
export function lintTree(files: readonly TextFile[]): readonly Finding[] {
  return files.flatMap(({ path, text }) => lintFile(path, text));
}

/** One finding as one line. */
export function findingLine({ path, line, rule, message, level }: Finding): string {
  return `${level === "warn" ? "warning " : ""}${path}:${line} ${rule}: ${message}`;
}

function byFolder(findings: readonly Finding[]): string {
  const groups = Map.groupBy(findings, ({ path }) => partOf(path) || "(top)");
  return [...groups].map(([part, found]) =>
    `## ${part}: ${found.length}\n${found.map(findingLine).join("\n")}\n`
  ).join("\n");
}

if (import.meta.main) {
  const findings = lintTree(readTree(new URL("..", import.meta.url).pathname.replace(/\/$/, "")));
  const errors = findings.filter((finding) => finding.level === "error");
  const lines = Deno.args.includes("--by-folder")
    ? byFolder(findings)
    : findings.map(findingLine).join("\n");
  await Deno.stdout.write(
    new TextEncoder().encode(
      `${lines}\n${errors.length} errors, ${findings.length - errors.length} warnings\n`,
    ),
  );
  Deno.exit(errors.length === 0 ? 0 : 1);
}
