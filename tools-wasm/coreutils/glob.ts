/** Names with `*`, `?` and `[…]`, matched in time linear in the pattern for each character. @module */
import { makePattern } from "./pattern.ts";
import { literalNode, type Node, parsePattern } from "./pattern_parse.ts";

/** Tells whether a whole name matches; `*` matches `/` too, as in find. */
export function makeNameTest(glob: string, ignoreCase: boolean): (name: string) => boolean {
  const parts: Node[] = [{ kind: "assert", what: "lineStart" }];
  for (let at = 0; at < glob.length;) {
    const close = glob[at] === "[" ? setEnd(glob, at + 1) : -1;
    const char = String.fromCodePoint(glob.codePointAt(at) ?? 0);
    let used = char.length;
    if (char === "*") parts.push({ kind: "repeat", part: ANY, least: 0, most: Infinity });
    else if (char === "?") parts.push(ANY);
    else if (close > 0) {
      used = close + 1 - at;
      const set = glob.slice(at, at + used).replace(/^\[!/, "[^");
      parts.push(parsePattern(set, { extended: false, ignoreCase }));
    } else {
      const escaped = char === "\\" ? glob[at + 1] : undefined;
      if (escaped !== undefined) used = 2;
      parts.push(literalNode(escaped ?? char, ignoreCase));
    }
    at += used;
  }
  parts.push({ kind: "assert", what: "lineEnd" });
  return makePattern({ kind: "all", parts }).test;
}

const ANY: Node = { kind: "char", test: () => true };

/** Where the `]` of a set stands whose words begin at `from`; -1 where it has none. */
function setEnd(glob: string, from: number): number {
  let at = from + (glob[from] === "!" || glob[from] === "^" ? 1 : 0);
  // Right at the beginning it is one of the set.
  if (glob[at] === "]") at++;
  for (; at < glob.length; at++) {
    if (glob[at] === "]") return at;
    if (!glob.startsWith("[:", at)) continue;
    const close = glob.indexOf(":]", at + 2);
    if (close >= 0) at = close + 1;
  }
  return -1;
}
