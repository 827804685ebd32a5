/** Finds keys that no configuration may have: repeated ones, ones that are no names; and aliases and anchors. @module */
import { type Document, isAlias, isNode, isScalar, type Node, visit } from "yaml";

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
