/** Keys of remit.yaml: those allowed at a place, the one most likely meant, and those that no configuration may have. @module */
import { type Document, isAlias, isNode, isScalar, type Node, visit } from "yaml";
import * as z from "zod";
import { RemitConfig } from "../contracts/policy/mod.ts";
import { nearest } from "../text/nearest.ts";

/** The part of a JSON Schema that names keys. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | boolean;
  readonly items?: Shape | readonly Shape[];
  readonly anyOf?: readonly Shape[];
}

function stepInto(shape: Shape, step: PropertyKey): readonly Shape[] {
  const { properties = {}, additionalProperties, items } = shape;
  const named = typeof step === "string" && Object.hasOwn(properties, step)
    ? properties[step]
    : undefined;
  if (named !== undefined) return branches(named);
  if (typeof additionalProperties === "object") return branches(additionalProperties);
  return typeof step === "number" && items !== undefined && !Array.isArray(items)
    ? branches(items as Shape)
    : [];
}

function branches(shape: Shape): readonly Shape[] {
  return shape.anyOf === undefined ? [shape] : shape.anyOf.flatMap(branches);
}

/** The keys allowed in the map at `path`; empty where any name is allowed, or the place holds no map. */
export function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  const root = z.toJSONSchema(RemitConfig, { io: "input" }) as Shape;
  const found = path.reduce<readonly Shape[]>(
    (shapes, step) => shapes.flatMap((each) => stepInto(each, step)),
    [root],
  );
  return [...new Set(found.flatMap(({ properties = {} }) => Object.keys(properties)))];
}

/** `; did you mean "model"?`, or the allowed keys; empty where neither helps. */
export function meantKey(path: readonly PropertyKey[], unknown: string): string {
  const known = knownKeys(path);
  const near = nearest(unknown, known);
  if (near !== undefined) return `; did you mean "${near}"?`;
  return known.length === 0 || known.length > 24 ? "" : `; there is ${known.join(", ")}`;
}

/**
 * The first repeated key, key that is no plain word, alias or anchor of a document. Aliases and anchors could make a
 * small file huge. Takes linear time.
 */
export function oddKey(
  document: Document,
): { readonly offset: number; readonly why: string } | undefined {
  let found: { readonly offset: number; readonly why: string } | undefined;
  const refuse = (node: Node, why: string): symbol => {
    found = { offset: node.range?.[0] ?? 0, why };
    return visit.BREAK;
  };
  const needsQuotes = (mark: string, name: string): string =>
    `a value that begins with "${mark}" needs quotes: '${mark}${name}'`;
  visit(document, {
    Alias: (_, alias) =>
      refuse(alias, `aliases are not allowed; ${needsQuotes("*", alias.source)}`),
    Node: (_, node) =>
      isAlias(node) || node.anchor === undefined
        ? undefined
        : refuse(node, `anchors are not allowed; ${needsQuotes("&", node.anchor)}`),
    Map(_, map): symbol | undefined {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const word = isScalar(key) ? key.value ?? undefined : undefined;
        // `1` and `"1"` become the same key of the parsed object.
        const value = word === undefined ? undefined : String(word);
        const twice = value !== undefined && seen.has(value);
        if (value !== undefined) seen.add(value);
        if (!twice && value !== undefined) continue;
        const offset = isNode(key) ? key.range?.[0] ?? 0 : 0;
        // A list as a key must not reach the parser, which would print it on the terminal.
        found = { offset, why: value === undefined ? "a key is no name" : "a key stands twice" };
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return found;
}
