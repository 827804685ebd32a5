import { isFixture } from "../import_table.ts";
import { declaredName } from "./doc_rule.ts";
import { importsOf, resolveSpecifier } from "./import_rule.ts";
import { baseName, breach, type Finding, isTest, parseSource, type SourceFile } from "./source.ts";

/** Names imported from a module; `*` for all of them. */
type Taken = Set<string>;

/**
 * Rule `dead`, over the whole tree: an `export` that no other file imports, or only tests and
 * benches where the file is not theirs.
 *
 * Two kinds are excused: a name that its own file uses and a test imports (a limit, a step worth
 * its own claim), and a type that its own file uses (the shape of what the file exports). A door's
 * list keeps nothing alive: what `mod.ts` re-exports must be imported from it, at least by its
 * example. Contracts serve both ends of a wire and are not judged.
 */
export function deadExports(files: readonly SourceFile[]): readonly Finding[] {
  const taken = takenNames(files.filter(({ path }) => !testing(path)), files);
  const tested = takenNames([
    ...files.filter(({ path }) => testing(path)),
    ...files.flatMap(examples),
  ], files);
  const has = (names: ReadonlyMap<string, Taken>, path: string, name: string): boolean =>
    names.get(path)?.has(name) === true || names.get(path)?.has("*") === true;

  const judged = files.filter(({ path }) => !path.startsWith("contracts/"));
  const unentered = judged.filter(({ path }) => !testing(path)).flatMap((file) =>
    importsOf(file).filter(({ passedOn }) => passedOn).flatMap(({ names, line }) =>
      names.filter((name) => !has(taken, file.path, name) && !has(tested, file.path, name))
        .map((name) =>
          breach("dead", file.path, line, `\`${name}\` is handed on, and nothing takes it here`)
        )
    )
  );
  return judged.flatMap((file) =>
    declared(file).flatMap(({ name, line, isType }) => {
      if (has(taken, file.path, name) || isEntry(file.path, name)) return [];
      const inTests = has(tested, file.path, name);
      if (testing(file.path) && inTests) return [];
      const own = file.code.filter((token) => token.kind === "word" && token.text === name);
      if (own.length > 1 && (isType || inTests)) return [];
      const why = own.length > 1
        ? "is used in its own file alone: it needs no `export`"
        : `is used by nothing${inTests ? " but tests" : ""}`;
      return [breach("dead", file.path, line, `\`${name}\` ${why}`)];
    })
  ).concat(unentered);
}

/** Returns the examples in a door's doc, which run like tests. */
function examples({ path, tokens }: SourceFile): readonly SourceFile[] {
  if (baseName(path) !== "mod.ts") return [];
  const imports = tokens.flatMap(({ kind, text }) =>
    kind === "doc" ? text.match(/import [^;]*;/g) ?? [] : []
  );
  return [parseSource(path, imports.join("\n").replace(/^ *\* ?/gm, ""))];
}

function testing(path: string): boolean {
  return isTest(path) || isFixture(path) || /^(bench|examples)\//.test(path);
}

/** Files whose exports nothing uses yet, and why they are kept. */
const KEPT: ReadonlyMap<string, string> = new Map([
  ["broker/audit/lines.ts", "a log as JSON lines, kept and checked elsewhere"],
  ["tests/fault/ledger_tool.ts", "it stands in the place of net/mod.ts"],
  ["models/embed/vectors.ts", "a contract beside LanguageModel"],
]);

/** Whether an export has a caller outside the module graph: a plugin's script, or a bench. */
function isEntry(path: string, name: string): boolean {
  return KEPT.has(path) || path.endsWith("_bench.ts") ||
    path.startsWith("tools-wasm/") && baseName(path) === "tool.ts" && name === "tools";
}

type Declared = { readonly name: string; readonly line: number; readonly isType: boolean };

function declared(file: SourceFile): readonly Declared[] {
  return file.code.flatMap((token, index) => {
    if (token.kind !== "word" || token.text !== "export") return [];
    const name = declaredName(file.code, index + 1);
    if (name === undefined) return [];
    const isType = ["type", "interface"].includes(file.code[index + 1]?.text ?? "");
    return [{ name, line: token.line, isType }];
  });
}

type Passed = { readonly door: string; readonly to: string; readonly names: readonly string[] };

/**
 * Collects the names that `files` import of each module. A re-export by a door of `all` counts when
 * it is imported from the door.
 */
function takenNames(
  files: readonly SourceFile[],
  all: readonly SourceFile[],
): ReadonlyMap<string, Taken> {
  const taken = new Map<string, Taken>();
  const take = (path: string, name: string): boolean => {
    const names = taken.get(path) ?? new Set();
    taken.set(path, names);
    return names.size < names.add(name).size;
  };
  for (const { to, names, passedOn } of files.flatMap(edgesOf)) {
    if (!passedOn) { for (const name of names.length === 0 ? ["*"] : names) take(to, name); }
  }
  const passed: readonly Passed[] = all.flatMap(edgesOf).filter(({ passedOn }) => passedOn);
  for (let more = true; more;) {
    more = false;
    for (const { door, to, names } of passed) {
      const asked = taken.get(door) ?? new Set();
      const whole = names.length === 0;
      for (const name of asked) {
        const given = name === "*" && !whole ? names : whole || names.includes(name) ? [name] : [];
        for (const each of given) if (take(to, each)) more = true;
      }
    }
  }
  return taken;
}

function edgesOf(file: SourceFile): readonly (Passed & { readonly passedOn: boolean })[] {
  return importsOf(file).flatMap(({ specifier, names, passedOn }) => {
    const to = specifier.startsWith(".") ? resolveSpecifier(file.path, specifier) : undefined;
    return to === undefined ? [] : [{ door: file.path, to, names, passedOn }];
  });
}
