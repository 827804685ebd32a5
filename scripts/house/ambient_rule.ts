import { type Import, importsOf } from "./import_rule.ts";
import { isFixture } from "../import_table.ts";
import { baseName, breach, type Finding, type SourceFile } from "./source.ts";
import type { Token } from "./tokens.ts";

/**
 * Names that are authority wherever they stand. `process` is also a noun of this project: see
 * {@link OF_PROCESS}.
 */
const AUTHORITY: ReadonlySet<string> = new Set([
  "Deno",
  "fetch",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "crypto",
  "console",
  "performance",
  "localStorage",
  "sessionStorage",
  "indexedDB",
  "caches",
  "navigator",
  "globalThis",
  "eval",
]);

/** Names that are authority when constructed. */
const CONSTRUCTED: ReadonlySet<string> = new Set([
  "Worker",
  "SharedWorker",
  "WebSocket",
  "WebSocketStream",
  "EventSource",
  "BroadcastChannel",
  "Function",
]);

/** Names that are authority when called as a plain function: a person's terminal. */
const CALLED: ReadonlySet<string> = new Set(["prompt", "confirm", "alert", "reportError"]);

/** Members that are authority although their object is not. */
const MEMBERS: Readonly<Record<string, string>> = {
  Date: "now",
  Math: "random",
  AbortSignal: "timeout",
};

/** Members of node's global `process` that no process object of this project has. */
const OF_PROCESS: ReadonlySet<string> = new Set(
  "env argv stdin stdout stderr nextTick hrtime memoryUsage dlopen binding getBuiltinModule umask"
    .split(" "),
);
const CALLED_OF_PROCESS: ReadonlySet<string> = new Set(
  "exit cwd chdir".split(" "),
);

/**
 * Modules of node that compute and touch nothing outside. Every other node: module is authority.
 */
const PURE_NODE: ReadonlySet<string> = new Set(
  "path path/posix crypto util buffer assert assert/strict string_decoder zlib url events".split(
    " ",
  ),
);

/** Exports of node:crypto that a file without powers may not use: randomness and new keys. */
const IMPURE_CRYPTO = /^(random|generate|webcrypto|getRandomValues|subtle|prng)/;

/** Powers files, entries, tests, fixtures and folders outside the running system. */
function hasPowers(path: string): boolean {
  const name = baseName(path);
  return isFixture(path) || name.endsWith("_powers.ts") || name.endsWith("_test.ts") ||
    name === "main.ts" ||
    /^(scripts|tests|bench)\//.test(path);
}

/**
 * Rule `ambient`: clock, randomness, files, network, timers and terminal are passed in as
 * arguments, never used directly.
 */
export function ambientRule(file: SourceFile): readonly Finding[] {
  if (hasPowers(file.path)) return [];
  const findings: Finding[] = [];
  const say = (line: number, what: string): void => {
    findings.push(
      breach("ambient", file.path, line, `${what} is ambient authority: take it as an argument`),
    );
  };
  for (const [index, token] of file.code.entries()) {
    const what = authorityAt(file.code, index);
    if (what !== undefined) say(token.line, what);
  }
  for (const imported of importsOf(file)) {
    const what = authorityOf(imported);
    if (what !== undefined) say(imported.line, what);
  }
  return findings;
}

function authorityAt(code: readonly Token[], index: number): string | undefined {
  const token = code[index];
  const previous = code[index - 1];
  const next = code[index + 1];
  if (token?.kind !== "word" || previous?.text === "." || previous?.text === "?.") return undefined;
  if (previous?.text === "new" && CONSTRUCTED.has(token.text)) return `\`new ${token.text}\``;
  if (token.text === "Date" && readsClock(code, index)) return "`new Date()`";
  const member = Object.hasOwn(MEMBERS, token.text) ? MEMBERS[token.text] : undefined;
  if (member !== undefined && next?.text === "." && code[index + 2]?.text === member) {
    return `\`${token.text}.${member}\``;
  }
  if (token.text === "process" && next?.text === ".") {
    const taken = code[index + 2]?.text ?? "";
    const called = code[index + 3]?.text === "(" && CALLED_OF_PROCESS.has(taken);
    return called || OF_PROCESS.has(taken) ? `\`process.${taken}\`` : undefined;
  }
  if (CALLED.has(token.text) && next?.text === "(" && !isMember(code, index)) {
    return `\`${token.text}()\``;
  }
  if (!AUTHORITY.has(token.text) || previous?.text === "typeof" || isMember(code, index)) {
    return undefined;
  }
  return `\`${token.text}\``;
}

/** `new Date()` and `Date()` read the clock; `new Date(ms)` does not. */
function readsClock(code: readonly Token[], index: number): boolean {
  const next = code[index + 1]?.text;
  if (code[index - 1]?.text !== "new") return next === "(";
  return next !== "(" || code[index + 2]?.text === ")";
}

/** Whether the word declares a member: `fetch: …`, `fetch(url): …`, `fetch(url) {`. */
function isMember(code: readonly Token[], index: number): boolean {
  const previous = code[index - 1]?.text ?? ";";
  if (!["{", "}", ";", ",", "(", "readonly", "async", "|", "&"].includes(previous)) return false;
  let at = index + 1;
  if (code[at]?.text === "?") at += 1;
  if (code[at]?.text === ":") return true;
  if (code[at]?.text !== "(" || previous === "(") return false;
  let depth = 0;
  for (; at < code.length; at += 1) {
    const token = code[at];
    if (token?.kind !== "punct") continue;
    if (token.text === "(") depth += 1;
    if (token.text === ")" && --depth === 0) break;
  }
  return ["{", ":"].includes(code[at + 1]?.text ?? "");
}

function authorityOf({ specifier, typeOnly, dynamic, names }: Import): string | undefined {
  if (typeOnly) return undefined;
  // A module of this repository named literally is only loaded later; rule `import` judges it.
  if (dynamic && specifier === "") return "a computed `import()`";
  if (!specifier.startsWith("node:")) return undefined;
  const module = specifier.slice("node:".length);
  if (!PURE_NODE.has(module)) return `\`${specifier}\``;
  const impure = module === "crypto" ? names.find((name) => IMPURE_CRYPTO.test(name)) : undefined;
  return impure === undefined ? undefined : `\`${impure}\` of \`${specifier}\``;
}
