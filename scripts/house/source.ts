import { isAssembly } from "../import_table.ts";
import { type Token, tokenize } from "./tokens.ts";

/** A source file as the rules see it. */
export type SourceFile = {
  /** Path in the repository, `/`-separated. */
  readonly path: string;
  readonly text: string;
  /** All tokens. */
  readonly tokens: readonly Token[];
  /** The tokens that are not comments. */
  readonly code: readonly Token[];
};

/** A breach of a rule. Level `warn` is shown and does not fail. */
export type Finding = {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
  readonly level: "error" | "warn";
};

/** A house rule: returns what is wrong with one file. */
export type Rule = (file: SourceFile) => readonly Finding[];

/** Splits a file's text into tokens once, for all rules. */
export function parseSource(path: string, text: string): SourceFile {
  const tokens = tokenize(text);
  const code = tokens.filter((token) => token.kind !== "comment" && token.kind !== "doc");
  return Object.freeze({ path, text, tokens, code });
}

/** Makes an error finding of `rule` for `path`. */
export function breach(rule: string, path: string, line: number, message: string): Finding {
  return { path, line, rule, message, level: "error" };
}

/** Whether a file may hold tests: a `*_test.ts`, or anything under `tests/`. */
export function isTest(path: string): boolean {
  return path.endsWith("_test.ts") || path.startsWith("tests/");
}

/** Whether a file is TypeScript of ours: no AssemblyScript, and no declarations of a package. */
export function isSource(path: string): boolean {
  return path.endsWith(".ts") && !isAssembly(path) && !path.endsWith(".d.ts");
}

/** Returns the last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
