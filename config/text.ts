/** Parses the text of one remit.yaml into data whose every rule knows its line. @module */
import { isMap, isNode, isPair, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import type * as z from "zod";
import { meantKey, oddKey } from "./keys.ts";
import { displayText } from "../text/mod.ts";
import { Fault } from "../contracts/base/mod.ts";
import { type PlacedRule, RemitConfig } from "../contracts/policy/mod.ts";

/** A parsed file: its data, and the line of each part. */
export interface ConfigFile {
  /** The file's name as people see it. */
  readonly file: string;
  readonly config: RemitConfig;
  readonly rules: readonly PlacedRule[];
  /** `FILE:LINE` of a key path such as `["never", 0]`. */
  at(path: readonly PropertyKey[]): string;
}

const MAX_CHARACTERS = 1_000_000;

function offsetOf(root: Node | null, path: readonly PropertyKey[], key?: string): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const step of key === undefined ? path : [...path, key]) {
    if (isMap(node)) {
      const pair = node.items.find((each) => isScalar(each.key) && each.key.value === step);
      if (pair === undefined || !isPair(pair)) return offset;
      offset = isNode(pair.key) ? pair.key.range?.[0] ?? offset : offset;
      node = pair.value;
    } else if (isNode(node) && "items" in node && Array.isArray(node.items)) {
      node = node.items[Number(step)];
      if (isNode(node)) offset = node.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}

/** YAML's special characters at the start of a value; patterns of paths often begin with one. */
const NEEDS_QUOTES = /^[*!&@`%|>{[]/;

/** A hint at missing quotes for the value at `offset` that does not parse; empty without one. */
function slipOf(text: string, offset: number): string {
  const from = Math.max(text.lastIndexOf("\n", offset - 1) + 1, 0);
  const [line = ""] = text.slice(from).split("\n", 1);
  const value = /^(?:\s*-\s+|\s*[\w-]+:\s+(?:\[\s*)?)+(\S.*?)\s*$/.exec(line)?.[1] ?? "";
  if (NEEDS_QUOTES.test(value)) {
    return `; a value that begins with "${value.charAt(0)}" needs quotes: '${value}'`;
  }
  const inner = /^\s*(?:-\s+)*[\w-]+:\s+([^"'\s].*: .*?)\s*$/.exec(line)?.[1];
  return inner === undefined ? "" : `; a value with ": " in it needs quotes: '${inner}'`;
}

/**
 * Parses the data, without sections that are null: the schema would complain about a missing list or map where a person
 * left a section empty.
 */
function parseConfig(plain: unknown): ReturnType<typeof RemitConfig.safeParse> {
  const data = plain ?? { version: 1 };
  for (;;) {
    const parsed = RemitConfig.safeParse(data);
    const empty = parsed.error?.issues.find((issue) =>
      issue.code === "invalid_type" && /array|object|record/.test(issue.expected) &&
      issue.message.endsWith("received null")
    );
    if (empty === undefined || !dropAt(data, empty.path)) return parsed;
  }
}

/** Deletes a key from its map; false where the path leads to none. */
function dropAt(data: unknown, path: readonly PropertyKey[]): boolean {
  const at = path.slice(0, -1).reduce<unknown>(
    (value, key) => isRecord(value) ? value[String(key)] : undefined,
    data,
  );
  const last = path.at(-1);
  if (!isRecord(at) || last === undefined || !Object.hasOwn(at, last)) return false;
  return delete at[String(last)];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function wordOf({ code, message }: { readonly code: string; readonly message: string }): string {
  if (message.endsWith("received null")) return "it is empty; write a value, or take out the line";
  return code === "invalid_key" ? "no name may look so; write it with a-z, 0-9 and -" : message;
}

/**
 * Parses the text of a remit.yaml.
 *
 * @throws Fault `invalidInput` that begins with `FILE:LINE:COLUMN`, also for unknown keys.
 */
export function parseConfigText(file: string, text: string): ConfigFile {
  const shown = displayText(file, { max: 512 });
  const wrong = (place: string, why: string): Fault =>
    new Fault("invalidInput", `${place}: Cannot read configuration: ${why}`);
  if (text.length > MAX_CHARACTERS) throw wrong(shown, `longer than ${MAX_CHARACTERS} characters`);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    strict: true,
    // Checked below: the parser's own check takes minutes for a hundred thousand keys.
    uniqueKeys: false,
    version: "1.2",
    schema: "core",
  });
  const place = (offset: number, column: boolean): string => {
    const found = lines.linePos(offset);
    return column ? `${shown}:${found.line}:${found.col}` : `${shown}:${found.line}`;
  };
  // An unknown tag is only a warning, but loses its value: refused, too.
  const [first] = [...document.errors, ...document.warnings];
  if (first !== undefined) {
    const [offset] = first.pos;
    const problem = first.code === "MULTIPLE_DOCS"
      ? 'it holds more than one document: take out the line "---"'
      : first.message.split("\n")[0] ?? "it is no YAML";
    const plain = problem.replace(/ at line \d+, column \d+:?$/, "");
    throw wrong(place(offset, true), displayText(plain + slipOf(text, offset), { max: 400 }));
  }
  const odd = oddKey(document);
  if (odd !== undefined) throw wrong(place(odd.offset, true), odd.why);
  const parsed = parseConfig(document.toJS({ maxAliasCount: 0 }));
  if (!parsed.success) {
    const [found] = parsed.error.issues;
    if (found === undefined) throw wrong(shown, "it does not parse");
    const issue = nearestIssue(found);
    const unknown = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
    const offset = offsetOf(document.contents, issue.path, unknown);
    const where = issue.path.map(String).join(".");
    const why = unknown === undefined
      ? `${where === "" ? "the file" : `"${where}"`} is wrong: ${
        where === "version" ? 'it has to have the line "version: 1"' : wordOf(issue)
      }`
      : `unknown key "${unknown}"${where === "" ? "" : ` in "${where}"`}${
        meantKey(issue.path, unknown)
      }`;
    const slip = unknown === undefined ? slipOf(text, offset) : "";
    throw wrong(place(offset, true), displayText(why + slip, { max: 500 }));
  }
  const at = (path: readonly PropertyKey[]): string =>
    place(offsetOf(document.contents, path), false);
  const rules = (parsed.data.rules ?? []).map((rule, n): PlacedRule => ({
    ...rule,
    at: at(["rules", n]),
  }));
  return Object.freeze({ file: shown, config: parsed.data, rules, at });
}

type Issue = z.core.$ZodIssue;

/** How near the value is to a shape with these issues: their depth, less where a key is missing altogether. */
function nearnessOf(issues: readonly Issue[]): number {
  return Math.max(...issues.map((issue) => {
    const { path, message } = nearestIssue(issue);
    return path.length - (message.endsWith("received undefined") ? MISSING : 0);
  }));
}
const MISSING = 0.5;

/**
 * The issue itself; for a union of shapes, the first issue of the nearest shape with its path from the root. Where no
 * shape is nearest, a message that lists what each shape wants.
 */
function nearestIssue(issue: Issue): Issue {
  if (issue.code !== "invalid_union") return issue;
  const shapes = issue.errors.filter((errors) => errors.length > 0);
  const [nearest, second] = [...shapes].sort((a, b) => nearnessOf(b) - nearnessOf(a));
  const isKnown = nearest !== undefined &&
    (second === undefined || nearnessOf(nearest) > nearnessOf(second) || isShape(nearest, second));
  if (isKnown) {
    const [first] = nearest.map(nearestIssue);
    if (first !== undefined) return { ...first, path: [...issue.path, ...first.path] } as Issue;
  }
  const wants = shapes.flatMap(([each]) => each === undefined ? [] : [nearestIssue(each).message]);
  return { ...issue, message: [...new Set(wants)].join("; or: ") };
}

/** Whether the value has the first shape except for unknown keys, and not even the type of the second. */
function isShape(first: readonly Issue[], second: readonly Issue[]): boolean {
  return first.every(({ code }) => code === "unrecognized_keys") &&
    second.some(({ code }) => code === "invalid_type");
}
