/**
 * The house lint over the whole repository: `deno run -R scripts/house_lint.ts [--by-folder]`.
 * Prints each finding as `path:line rule: message` and exits with 1 when one is an error.
 * @module
 */
import { claimFindings, deadExports, type Finding, lintFile, undocumented } from "./house/mod.ts";
import { isSource, parseSource } from "./house/source.ts";
import { readTree, type TextFile } from "./house/tree.ts";
import { partOf } from "./import_table.ts";

/** Returns the findings of each file by itself, then of all files together. */
export function lintTree(files: readonly TextFile[]): readonly Finding[] {
  const sources = files.filter(({ path }) => isSource(path))
    .map(({ path, text }) => parseSource(path, text));
  return [
    ...files.flatMap(({ path, text }) => lintFile(path, text)),
    ...deadExports(sources),
    ...undocumented(sources),
    ...claimFindings(sources),
  ];
}

/** Formats a finding as one line. */
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
