/** Finds where in a YAML document a path lies. @module */
import { type Document, isAlias, isMap, isNode, isScalar, isSeq } from "yaml";

/** The offset of the value at `path`, or of the last part of it that is there; of `key` in it if given. */
export function offsetOf(
  document: Document,
  path: readonly PropertyKey[],
  key: string | undefined,
): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const part of key === undefined ? path : [...path, key]) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.value === part);
      if (pair === undefined) break;
      const named = startOf(pair.key);
      node = pair.value;
      offset = (key !== undefined && part === key ? named : startOf(node) ?? named) ?? offset;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = startOf(node) ?? offset;
    } else {
      break;
    }
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
