/** Reads and changes one value of a remit.yaml, and leaves the rest of the text as it was. @module */
import { type Document, isCollection, isMap, isNode, parse, parseDocument } from "yaml";
import { Fault } from "../../contracts/base/mod.ts";
import { knownKeys, oddKey } from "../../config/keys.ts";
import { nearest } from "../../text/nearest.ts";

/** Most steps of a key. */
const MAX_STEPS = 12;

function wrong(message: string): Fault {
  return new Fault("invalidInput", message);
}

/**
 * The steps of a key such as `limits.money`, `rules.0.mode` or `clearance."model:api.example.com"`.
 *
 * @throws Fault `invalidInput` for a malformed key.
 */
export function parseKey(text: string): readonly (string | number)[] {
  const steps = [...text.matchAll(/(?:^|\.)(?:"([^"]{1,256})"|([^".]{1,256}))(?=\.|$)/g)];
  const whole = steps.map(([each]) => each).join("");
  if (steps.length === 0 || whole !== text || steps.length > MAX_STEPS) {
    throw wrong(
      `Cannot read the key ${
        JSON.stringify(text.slice(0, 200))
      }: write names with dots, limits.money; ` +
        'a name that has dots in quotes, clearance."model:api.example.com"',
    );
  }
  return steps.map(([, quoted, plain = ""]) =>
    quoted ?? (/^(?:0|[1-9]\d{0,5})$/.test(plain) ? Number(plain) : plain)
  );
}

function documentOf(text: string): Document {
  const document: Document = parseDocument(text === "" ? "version: 1\n" : text, {
    uniqueKeys: false,
    version: "1.2",
    schema: "core",
  });
  if (document.contents === null) document.set("version", 1);
  if (!isMap(document.contents)) throw wrong("Cannot read remit.yaml: it is no map of settings");
  return document;
}

/** The value at a key, as JSON; undefined where the file does not set it. */
export function readKey(text: string, key: readonly (string | number)[]): unknown {
  const found: unknown = documentOf(text).getIn(key, true);
  if (!isNode(found)) return found;
  return found.toJS(documentOf(text), { maxAliasCount: 0 });
}

/** A typed value, read as YAML: numbers, switches, lists and maps; anything else is text. */
export function parseValue(text: string): unknown {
  try {
    const value: unknown = parse(text, { version: "1.2", schema: "core", maxAliasCount: 0 });
    return value === null ? text : value;
  } catch {
    return text;
  }
}

/** The text with another value at a key, or without the key where `value` is undefined. Throws `invalidInput`. */
export function withKey(text: string, key: readonly (string | number)[], value: unknown): string {
  const document = documentOf(text);
  // The next reader must find what is written: aliases and repeated keys prevent that.
  const odd = oddKey(document);
  if (odd !== undefined || document.errors.length > 0) {
    throw wrong(`Cannot change remit.yaml: ${odd?.why ?? "it is no YAML"}`);
  }
  if (value === undefined) {
    document.deleteIn(key);
    return document.toString({ lineWidth: 0 });
  }
  key.slice(0, -1).forEach((_, n) => {
    const at = key.slice(0, n + 1);
    const node: unknown = document.getIn(at, true);
    // A missing or empty section becomes a map.
    const empty = node === undefined || (isNode(node) && node.toJS(document) === null);
    if (empty) document.setIn(at, document.createNode(typeof key[n + 1] === "number" ? [] : {}));
    else if (!isCollection(node)) {
      throw wrong(`Cannot set ${key.join(".")}: "${at.join(".")}" is a value and no section`);
    }
  });
  document.setIn(key, document.createNode(value));
  return document.toString({ lineWidth: 0 });
}

/** Throws `invalidInput` with a suggestion for a key that no remit.yaml has. */
export function checkKey(key: readonly (string | number)[]): void {
  key.forEach((step, n) => {
    const known = knownKeys(key.slice(0, n));
    if (typeof step === "number" || known.length === 0 || known.includes(step)) return;
    const near = nearest(step, known);
    throw wrong(
      `Cannot read the key "${key.join(".")}": ${
        near === undefined ? "" : `did you mean ${[...key.slice(0, n), near].join(".")}? `
      }there is ${known.join(", ")}`,
    );
  });
}
