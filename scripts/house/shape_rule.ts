import { baseName, breach, type Finding, isTest, type SourceFile } from "./source.ts";

/** Most lines of a file: a longer one holds two ideas. Tests may be longer. */
const MAX_LINES = 400;

/** A longer file is reported as a warning, before it reaches the limit. */
const WARN_LINES = 360;

const SNAKE = /^_?[a-z][a-z0-9]*(_[a-z0-9]+)*\.ts$/;
const VAGUE: ReadonlySet<string> = new Set(
  "util utils helper helpers common misc shared types index data info manager".split(" "),
);

/** Rule `size`: a file longer than {@link MAX_LINES} holds two ideas. */
export function sizeRule(file: SourceFile): readonly Finding[] {
  if (isTest(file.path)) return [];
  const lines = file.text.replace(/\n$/, "").split("\n").length;
  if (lines > MAX_LINES) {
    return [breach("size", file.path, 1, `${lines} lines: past ${MAX_LINES} it is two ideas`)];
  }
  if (lines <= WARN_LINES) return [];
  return [{ path: file.path, line: 1, rule: "size", message: `${lines} lines`, level: "warn" }];
}

/** Rule `name`: a file has a snake_case name that says what it holds. */
export function nameRule(file: SourceFile): readonly Finding[] {
  const name = baseName(file.path);
  const stem = name.replace(/\.ts$/, "").replace(/_(test|bench|powers)$/, "").replace(/^_/, "");
  if (!SNAKE.test(name)) return [breach("name", file.path, 1, `"${name}" is not snake_case`)];
  if (!VAGUE.has(stem)) return [];
  return [breach("name", file.path, 1, `"${name}" names no idea: name the file for what it holds`)];
}

/** Rule `form`: no default export, no enum, no namespace, and no suppression without a reason. */
export function formRule(file: SourceFile): readonly Finding[] {
  const findings: Finding[] = [];
  const say = (line: number, message: string): void => {
    findings.push(breach("form", file.path, line, message));
  };
  for (const [index, token] of file.code.entries()) {
    const next = file.code[index + 1];
    if (token.kind !== "word" || next?.kind !== "word") continue;
    const startsStatement = file.code[index - 1]?.text !== ".";
    if (!startsStatement) continue;
    if (token.text === "export" && next.text === "default") {
      say(token.line, "default export: name it");
    }
    const opens = file.code[index + 2]?.text === "{";
    if (token.text === "enum" && opens) say(token.line, "enum: use a union of strings");
    if (token.text === "namespace" && opens) say(token.line, "namespace: use a file");
    if (token.text === "as" && next.text === "any") say(token.line, "`as any`: parse it");
  }
  for (const token of file.tokens) {
    if (token.kind !== "comment") continue;
    if (/deno-lint-ignore-file/.test(token.text)) {
      say(token.line, "a whole file is excused from lint");
    } else if (/deno-lint-ignore/.test(token.text) && !/ -- \w+/.test(token.text)) {
      say(token.line, "a lint rule is suppressed without ` -- reason`");
    }
    if (/@ts-(ignore|nocheck)/.test(token.text)) {
      say(token.line, "the type checker is switched off");
    }
  }
  return findings;
}
