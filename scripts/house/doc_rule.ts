import { importsOf, resolveSpecifier } from "./import_rule.ts";
import { baseName, breach, type Finding, type SourceFile } from "./source.ts";
import type { Token } from "./tokens.ts";

/** Matches `@module` as a tag, not as a word in a sentence. */
const MODULE_TAG = /^(?:\/\*\*|\s*\*)\s*@module\b/m;
const MODIFIERS: ReadonlySet<string> = new Set(["declare", "abstract", "async"]);
const DECLARATIONS: ReadonlySet<string> = new Set(
  "const let var function class interface type namespace".split(" "),
);

/** Rule `doc` for one file: a door (`mod.ts`) has an `@module` doc with an example. */
export function doorRule(file: SourceFile): readonly Finding[] {
  return file.path.endsWith("_test.ts") ? [] : doorFindings(file);
}

/**
 * Rule `doc`, over the whole tree: an exported name that another folder imports or a door
 * re-exports has a JSDoc sentence. Names that only their own folder imports need none: a sentence
 * written for the rule would tell nobody more.
 */
export function undocumented(files: readonly SourceFile[]): readonly Finding[] {
  const open = openNames(files);
  return files.flatMap((file) => {
    const names = open.get(file.path);
    return names === undefined || file.path.endsWith("_test.ts") ? [] : bareNames(file, names);
  });
}

function bareNames(file: SourceFile, names: ReadonlySet<string>): readonly Finding[] {
  const findings: Finding[] = [];
  const documented = new Set<string>();
  for (const [index, token] of file.tokens.entries()) {
    if (token.kind !== "word" || token.text !== "export") continue;
    const name = declaredName(file.tokens, index + 1);
    if (name === undefined || documented.has(name)) continue;
    const before = file.tokens.slice(0, index).findLast((other) => other.kind !== "comment");
    documented.add(name); // the first of a function's overloads carries the doc
    if (!names.has(name) && !names.has("*")) continue;
    if (before?.kind !== "doc" || MODULE_TAG.test(before.text)) {
      findings.push(
        breach("doc", file.path, token.line, `exported \`${name}\` has no JSDoc sentence`),
      );
    }
  }
  return findings;
}

/**
 * Returns the names of each file that other folders import or its door re-exports; `*` for all of
 * them. Tests need no docs.
 */
function openNames(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const open = new Map<string, Set<string>>();
  const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);
  for (const file of files) {
    if (file.path.endsWith("_test.ts")) continue;
    for (const { specifier, names, passedOn } of importsOf(file)) {
      const to = specifier.startsWith(".") ? resolveSpecifier(file.path, specifier) : undefined;
      if (to === undefined || !passedOn && folderOf(to) === folderOf(file.path)) continue;
      const taken = open.get(to) ?? new Set();
      open.set(to, taken);
      for (const name of names.length === 0 ? ["*"] : names) taken.add(name);
    }
  }
  return open;
}

/** Returns the name that the `export` before token `start` declares; undefined for none. */
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
