/** One remit.yaml as text becomes data whose every rule knows its line. @module */
import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
} from "yaml";
import { nearestIssue } from "./nearest_issue.ts";
import { oddKey } from "./odd_key.ts";
import { displayText } from "../../text/mod.ts";
import { Fault, type PlacedRule, RemitConfig } from "../../contracts/mod.ts";

/** A parsed file: its data, and where each part of it was written. */
export interface ConfigFile {
  /** As it is shown to people. */
  readonly file: string;
  readonly config: RemitConfig;
  readonly rules: readonly PlacedRule[];
  /** `FILE:LINE` of a key path such as `["never", 0]`. */
  at(path: readonly PropertyKey[]): string;
}

const LONGEST = 1_000_000;

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

/** The document as plain data. Aliases could make a small file huge; a configuration needs none. */
function toPlain(document: Document.Parsed, wrong: (why: string) => Fault): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof ReferenceError) throw wrong("aliases are not allowed");
    throw error;
  }
}

function wordOf({ code, message }: { readonly code: string; readonly message: string }): string {
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
  if (text.length > LONGEST) throw wrong(shown, `longer than ${LONGEST} characters`);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    strict: true,
    // Looked at below: the parser's own way takes minutes for a hundred thousand keys.
    uniqueKeys: false,
    version: "1.2",
    schema: "core",
  });
  const place = (offset: number, column: boolean): string => {
    const found = lines.linePos(offset);
    return column ? `${shown}:${found.line}:${found.col}` : `${shown}:${found.line}`;
  };
  const [first] = document.errors;
  if (first !== undefined) {
    throw wrong(
      place(first.pos[0], true),
      displayText(first.message.split("\n")[0] ?? "it is no YAML", { max: 300 }),
    );
  }
  const odd = oddKey(document);
  if (odd !== undefined) throw wrong(place(odd.offset, true), odd.why);
  const plain = toPlain(document, (why) => wrong(place(0, true), why));
  const parsed = RemitConfig.safeParse(plain ?? {});
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
      : `unknown key "${unknown}"${where === "" ? "" : ` in "${where}"`}`;
    throw wrong(place(offset, true), displayText(why, { max: 500 }));
  }
  const at = (path: readonly PropertyKey[]): string =>
    place(offsetOf(document.contents, path), false);
  const rules = (parsed.data.rules ?? []).map((rule, n): PlacedRule => ({
    ...rule,
    at: at(["rules", n]),
  }));
  return Object.freeze({ file: shown, config: parsed.data, rules, at });
}
