import { mayImport, mayImportNpm } from "../import_table.ts";
import { breach, type Finding, type SourceFile } from "./source.ts";
import type { Token } from "./tokens.ts";

/** Packages named by one export: a bundler drops unused parts only of `import * as`. */
const AS_A_WHOLE: ReadonlySet<string> = new Set(["zod"]);

/**
 * Resolves a relative specifier against the file `from`, both repository paths; undefined when it
 * leaves the repository.
 */
export function resolveSpecifier(from: string, specifier: string): string | undefined {
  const parts = from.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "." || part === "") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join("/");
}

/** The package of a bare specifier: `zod` of `zod/v4`, `@noble/ed25519` of `@noble/ed25519/x`. */
export function packageName(specifier: string): string {
  return specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

/** Rule `import`: a file imports what the table allows, and only what it uses of a package. */
export function importRule(file: SourceFile): readonly Finding[] {
  const findings: Finding[] = [];
  const say = (line: number, why: string | undefined): void => {
    if (why !== undefined) findings.push(breach("import", file.path, line, why));
  };
  for (const { specifier, line, dynamic, names } of importsOf(file)) {
    if (dynamic && specifier === "") continue; // rule `ambient` judges computed imports
    if (specifier.startsWith("node:")) continue; // rule `ambient` judges node's modules
    if (specifier.startsWith(".")) {
      const target = resolveSpecifier(file.path, specifier);
      if (target === undefined) say(line, `"${specifier}" leaves the repository`);
      else if (/\.tsx?$/.test(target)) say(line, mayImport(file.path, target));
    } else if (/^[a-z]+:|^\//.test(specifier)) {
      say(
        line,
        `"${specifier}" is not a package of deno.json: pin it there and add it to the import table`,
      );
    } else {
      const name = packageName(specifier);
      say(line, mayImportNpm(file.path, name));
      if (AS_A_WHOLE.has(name) && names.length > 0) {
        say(line, `"${name}" by name brings all of it into a bundle: import * as it`);
      }
    }
  }
  return findings;
}

/** An import or re-export as written. */
export type Import = {
  readonly specifier: string;
  readonly line: number;
  /** `import type` or `export type`: erased at run time. */
  readonly typeOnly: boolean;
  /** `import(…)`. A specifier that is not a literal string is `""`. */
  readonly dynamic: boolean;
  /** `export … from`: the names are re-exported. */
  readonly passedOn: boolean;
  /** Names as the other module calls them; empty where all are taken or they are unknown. */
  readonly names: readonly string[];
};

/** Finds all imports and re-exports in a file's tokens. */
export function importsOf(file: SourceFile): readonly Import[] {
  const found: Import[] = [];
  const { code } = file;
  for (const [index, token] of code.entries()) {
    if (token.kind !== "word" || (token.text !== "import" && token.text !== "export")) continue;
    if (code[index - 1]?.text === "." || code[index + 1]?.text === ".") continue; // import.meta
    const next = code[index + 1];
    if (token.text === "import" && next?.text === "(" && next.kind === "punct") {
      const argument = code[index + 2];
      const close = code[index + 3]?.text ?? "";
      const plain = argument?.kind === "string" && [")", ","].includes(close);
      found.push({
        specifier: plain ? argument.text : "",
        line: token.line,
        typeOnly: plain && namesType(code[index + 4], code[index + 5]),
        dynamic: true,
        passedOn: false,
        names: dynamicNames(code, index, index + (close === ")" ? 3 : 0)),
      });
      continue;
    }
    const clause = readClause(file, index + 1);
    if (clause === undefined) continue;
    found.push({ ...clause, line: token.line, dynamic: false, passedOn: token.text === "export" });
  }
  return found;
}

/** Whether `import("x").Name` is a type: a promise has no other members than the three here. */
function namesType(dot: Token | undefined, member: Token | undefined): boolean {
  return dot?.text === "." && !["then", "catch", "finally"].includes(member?.text ?? "then");
}

/**
 * Returns the names that `(await import(…)).name`, `import(…).Name` or `const { a, b } = await
 * import(…)` takes.
 */
function dynamicNames(code: readonly Token[], start: number, close: number): readonly string[] {
  const awaited = code[start - 1]?.text === "await";
  const dot = code[close + 1]?.text === ")" && awaited ? close + 2 : close + 1;
  const member = code[dot + 1]?.text;
  if (code[dot]?.text === "." && member !== undefined && member !== "then") return [member];
  if (!awaited || code[start - 2]?.text !== "=" || code[start - 3]?.text !== "}") return [];
  const names: string[] = [];
  for (let at = start - 4; at >= 0 && code[at]?.text !== "{"; at -= 1) {
    if (["{", ","].includes(code[at - 1]?.text ?? "")) names.push(code[at]?.text ?? "");
  }
  return names;
}

function readClause(
  file: SourceFile,
  start: number,
): Pick<Import, "specifier" | "typeOnly" | "names"> | undefined {
  const { code } = file;
  const first = code[start];
  if (first?.kind === "string") return { specifier: first.text, typeOnly: false, names: [] };
  const names: string[] = [];
  let at = start;
  let inside = false;
  const typeOnly = first?.text === "type" && ["{", "*"].includes(code[start + 1]?.text ?? "") ||
    first?.text === "type" && code[start + 1]?.kind === "word" && code[start + 2]?.text === "from";
  if (typeOnly) at += 1;
  for (; at < code.length; at += 1) {
    const token = code[at];
    if (token === undefined) return undefined;
    if (token.text === "from" && code[at + 1]?.kind === "string" && token.kind === "word") {
      return { specifier: code[at + 1]?.text ?? "", typeOnly, names };
    }
    const previous = code[at - 1]?.text;
    const partOfClause = token.kind === "word" || ["{", "}", ",", "*"].includes(token.text);
    if (!partOfClause) return undefined;
    if (token.text === "{" || token.text === "}") inside = token.text === "{";
    if (!inside && token.kind === "word" && DECLARES.has(token.text)) return undefined;
    if (
      token.kind === "word" && previous !== "as" && token.text !== "as" && token.text !== "type"
    ) {
      names.push(token.text);
    }
  }
  return undefined;
}

const DECLARES: ReadonlySet<string> = new Set(
  "const let var function class interface abstract async enum declare namespace".split(" "),
);
