/**
 * The house lint: rules on docs and style that `deno lint` does not have. Each rule judges one file.
 *
 * @example
 * ```ts
 * import { lintFile } from "./mod.ts";
 * const found = lintFile("broker/gate/gate.ts", "export default 1;\n");
 * if (found[0]?.rule !== "form") throw new Error("a default export must be found");
 * ```
 * @module
 */
import { isAssembly } from "../import_table.ts";
import { ambientRule } from "./ambient_rule.ts";
import { doorRule } from "./doc_rule.ts";
import { importRule } from "./import_rule.ts";
import { leakFindings } from "./leak_rule.ts";
import { formRule, nameRule, sizeRule } from "./shape_rule.ts";
import { type Finding, parseSource, type Rule } from "./source.ts";
import { testRule } from "./test_rule.ts";

export { claimFindings } from "./test_rule.ts";
export { deadExports } from "./dead_rule.ts";
export { undocumented } from "./doc_rule.ts";
export { breach, type Finding } from "./source.ts";
export { graphFindings, type ModuleGraph, parseGraph, reachedByCode } from "./graph_rule.ts";

/** The rules for TypeScript files. */
const HOUSE_RULES: readonly Rule[] = Object.freeze([
  importRule,
  ambientRule,
  sizeRule,
  nameRule,
  formRule,
  doorRule,
  testRule,
]);

/**
 * Returns all findings of the house rules in one file, ordered by line. `path`: a repository path.
 */
export function lintFile(path: string, text: string): readonly Finding[] {
  const leaks = leakFindings(path, text);
  // Declarations of a package hold the package's names.
  if (!path.endsWith(".ts") || path.endsWith(".d.ts")) return leaks;
  const file = parseSource(path, text);
  // The load gate decides what AssemblyScript may import.
  if (isAssembly(path)) return [...sizeRule(file), ...leaks];
  const found = [...HOUSE_RULES.flatMap((rule) => rule(file)), ...leaks];
  return found.sort((a, b) => a.line - b.line);
}
