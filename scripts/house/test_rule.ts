import { isFixture } from "../import_table.ts";
import { breach, type Finding, isTest, type SourceFile } from "./source.ts";
import type { Token } from "./tokens.ts";

/** Fewest words of a test name that claims something. */
const MIN_CLAIM_WORDS = 4;

const OPTIONS_REACH = 12;

/**
 * Rule `test`: a test's name is a claim, no test is switched off or preferred, and no test sleeps.
 */
export function testRule(file: SourceFile): readonly Finding[] {
  if (!isTest(file.path) && !isFixture(file.path)) return [];
  const findings: Finding[] = [];
  const say = (line: number, message: string): void => {
    findings.push(breach("test", file.path, line, message));
  };
  for (const [index, token] of file.code.entries()) {
    if (token.kind !== "word") continue;
    if (isSleep(file.code, index) && !excused(file, token.line)) {
      say(
        token.line,
        "a test that waits for time: turn a clock by hand, or say why in a `// TIMER: …` line above",
      );
    }
    if (token.text !== "Deno" || !followedBy(file.code, index, [".", "test"])) continue;
    const after = file.code[index + 3];
    if (after?.text === ".") {
      const method = file.code[index + 4]?.text ?? "";
      if (["ignore", "only", "skip"].includes(method)) {
        say(token.line, `\`Deno.test.${method}\` hides tests`);
      }
      continue;
    }
    if (after?.text === "(") checkTest(file.code, index + 4, say);
  }
  return findings;
}

function checkTest(
  code: readonly Token[],
  start: number,
  say: (line: number, message: string) => void,
): void {
  const first = code[start];
  if (first === undefined) return;
  if (isWhole(code, start)) return checkClaim(first, say);
  if (first.text !== "{") return;
  for (let at = start; at < start + OPTIONS_REACH; at += 1) {
    const token = code[at];
    if (token?.kind !== "word" || code[at + 1]?.text !== ":") continue;
    const value = code[at + 2];
    if (token.text === "name" && value !== undefined && isWhole(code, at + 2)) {
      checkClaim(value, say);
    }
    // A condition is allowed: a skipped test is shown, and fails where CI=true.
    if (token.text === "only" || (token.text === "ignore" && value?.text === "true")) {
      say(token.line, `\`${token.text}\` hides tests`);
    }
  }
}

/** Whether the token is a text without `${…}`, whose words could not be counted. */
function isWhole(code: readonly Token[], at: number): boolean {
  const kind = code[at]?.kind;
  return kind === "string" || kind === "template" && [",", "}"].includes(code[at + 1]?.text ?? "");
}

function checkClaim(name: Token, say: (line: number, message: string) => void): void {
  const words = name.text.trim().split(/\s+/).length;
  if (words >= MIN_CLAIM_WORDS) return;
  say(name.line, `"${name.text}" is not a claim: say who does what and what holds`);
}

function isSleep(code: readonly Token[], index: number): boolean {
  const text = code[index]?.text ?? "";
  return ["setTimeout", "setInterval", "sleep", "delay"].includes(text) &&
    code[index + 1]?.text === "(" && code[index - 1]?.text !== "function" &&
    (code[index - 1]?.text !== "." || code[index - 2]?.text === "globalThis");
}

function excused(file: SourceFile, line: number): boolean {
  return file.tokens.some((token) =>
    token.kind === "comment" && /\/\/ TIMER: \S/.test(token.text) && line - token.line <= 3 &&
    line >= token.line
  );
}

function followedBy(code: readonly Token[], index: number, texts: readonly string[]): boolean {
  return texts.every((text, offset) => code[index + 1 + offset]?.text === text);
}

/** `(test: NAME)` in a comment: the test that holds the claim. `…` stands for words left out. */
const NAMED = /\(tests?: "?([^)"]+)"?\)/gi;

/** Rule `claim`, over the whole tree: a test that a comment names exists under that name. */
export function claimFindings(files: readonly SourceFile[]): readonly Finding[] {
  const tests = files.filter(({ path }) => isTest(path)).map((file) =>
    file.code.filter(({ kind }) => kind === "string" || kind === "template")
      .map(({ text }) => text).join("\n")
  );
  return files.filter(({ path }) => !isTest(path) && !path.startsWith("scripts/house/"))
    .flatMap((file) =>
      commentsOf(file).flatMap(({ line, text }) =>
        [...text.matchAll(NAMED)].flatMap(([, name = ""]) => {
          const parts = name.split("…").map((part) => part.trim());
          const there = tests.some((test) => parts.every((part) => test.includes(part)));
          return there ? [] : [breach("claim", file.path, line, `no test is called "${name}"`)];
        })
      )
    );
}

/** Returns comments, joined with directly following ones. */
function commentsOf({ tokens }: SourceFile): readonly { line: number; text: string }[] {
  const found: { line: number; text: string }[] = [];
  for (const [index, { kind, text, line }] of tokens.entries()) {
    if (kind !== "comment" && kind !== "doc") continue;
    const words = text.replace(/^[ \t]*(?:\/\/|\/\*\*?|\*\/?)[ \t]?/gm, "").replace(/\s+/g, " ");
    const last = found.at(-1);
    if (last !== undefined && tokens[index - 1]?.kind === kind) last.text += ` ${words.trim()}`;
    else found.push({ line, text: words.trim() });
  }
  return found;
}
