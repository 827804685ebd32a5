/** What no configuration has: keys that stand twice or are no names, aliases, and names for them. @module */
import { type Document, isAlias, isNode, isScalar, type Node, visit } from "yaml";

/**
 * The first key of a document that stands twice in one place or is no plain word, or the first alias or anchor, which
 * could make a small file huge; in time that grows with the document.
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
        // `1` and `"1"` are one key of the object that is made of them.
        const value = word === undefined ? undefined : String(word);
        const twice = value !== undefined && seen.has(value);
        if (value !== undefined) seen.add(value);
        if (!twice && value !== undefined) continue;
        const offset = isNode(key) ? key.range?.[0] ?? 0 : 0;
        // A list as a key would be told on the terminal, as it is written, by the parser.
        found = { offset, why: value === undefined ? "a key is no name" : "a key stands twice" };
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return found;
}
