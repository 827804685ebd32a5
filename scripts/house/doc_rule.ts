import { baseName, breach, type Finding, type SourceFile } from "./source.ts";
import type { Token } from "./tokens.ts";

/** `@module` as a tag, not as a word in a sentence. */
const MODULE_TAG = /^(?:\/\*\*|\s*\*)\s*@module\b/m;
const MODIFIERS: ReadonlySet<string> = new Set(["declare", "abstract", "async"]);
const DECLARATIONS: ReadonlySet<string> = new Set(
  "const let var function class interface type namespace".split(" "),
);

/** Rule `doc`: every exported symbol has a JSDoc sentence, and a door (`mod.ts`) an `@module` doc with an example. */
export function docRule(file: SourceFile): readonly Finding[] {
  if (file.path.endsWith("_test.ts")) return [];
  const findings: Finding[] = [...doorFindings(file)];
  const documented = new Set<string>();
  for (const [index, token] of file.tokens.entries()) {
    if (token.kind !== "word" || token.text !== "export") continue;
    const name = declaredName(file.tokens, index + 1);
    if (name === undefined || documented.has(name)) continue;
    const before = file.tokens.slice(0, index).findLast((other) => other.kind !== "comment");
    documented.add(name); // the first of a function's overloads carries the doc
    if (before?.kind !== "doc" || MODULE_TAG.test(before.text)) {
      findings.push(
        breach("doc", file.path, token.line, `exported \`${name}\` has no JSDoc sentence`),
      );
    }
  }
  return findings;
}

/** The name that the `export` before token `start` declares; undefined where it declares none. */
export function declaredName(tokens: readonly Token[], start: number): string | undefined {
  let at = start;
  while (MODIFIERS.has(tokens[at]?.text ?? "")) at += 1;
  if (!DECLARATIONS.has(tokens[at]?.text ?? "")) return undefined;
  at += 1;
  if (tokens[at]?.text === "*") at += 1;
  return tokens[at]?.kind === "word" ? tokens[at]?.text : undefined;
}

function doorFindings(file: SourceFile): readonly Finding[] {
  if (baseName(file.path) !== "mod.ts") return [];
  const door = file.tokens.find((token) => token.kind === "doc" && MODULE_TAG.test(token.text));
  if (door === undefined) return [breach("doc", file.path, 1, "a door needs an `@module` doc")];
  if (/@example\b[\s\S]*```ts\n/.test(door.text)) return [];
  return [breach("doc", file.path, door.line, "the `@module` doc needs a runnable `@example`")];
}
