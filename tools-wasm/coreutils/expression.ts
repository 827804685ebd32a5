/**
 * The patterns of `grep` and `replace`: literal texts where possible, else state machines. @module
 */
import type { Part, Pattern, Span } from "../../text/pattern.ts";
import { literalNode, parsePattern, readyPattern } from "./pattern.ts";

/** How patterns are written and where they may match. */
export interface ExpressionStyle {
  readonly kind: "fixed" | "basic" | "extended";
  readonly ignoreCase: boolean;
  /** Whether only a whole word, or the whole line, may match. */
  readonly as: "part" | "word" | "line";
}

/** Characters without a special meaning in any style. */
const PLAIN = /^[A-Za-z0-9 _\-,:;/<>=!"'%&#@~`]*$/;

/** Matches any of the patterns; each line of a pattern is one pattern. Throws UsageError. */
export function makeExpression(patterns: readonly string[], style: ExpressionStyle): Pattern {
  const each = patterns.flatMap((pattern) => pattern.split("\n"));
  const [only = ""] = each;
  const literal = style.kind === "fixed" || PLAIN.test(only);
  if (each.length === 1 && literal && !style.ignoreCase && style.as === "part") {
    return literalPattern(only);
  }
  const parts = each.map((pattern): Part =>
    style.kind === "fixed" ? literalNode(pattern, style.ignoreCase) : parsePattern(pattern, {
      extended: style.kind === "extended",
      ignoreCase: style.ignoreCase,
    })
  );
  const any: Part = parts.length === 1
    ? parts[0] ?? { kind: "all", parts }
    : { kind: "any", parts };
  const [before, after] = style.as === "word"
    ? ["wordStart", "wordEnd"] as const
    : ["start", "end"] as const;
  if (style.as === "part") return readyPattern(any);
  return readyPattern({
    kind: "all",
    parts: [{ kind: "assert", what: before }, any, { kind: "assert", what: after }],
  });
}

function literalPattern(text: string): Pattern {
  return Object.freeze({
    test: (line: string) => line.includes(text),
    find(line: string, from?: number): readonly Span[] | undefined {
      const at = line.indexOf(text, from);
      return at < 0 ? undefined : [{ from: at, to: at + text.length }];
    },
  });
}

/** Every occurrence in a line, left to right; an empty one advances by a character. */
export function* occurrences(pattern: Pattern, line: string): Generator<Span> {
  for (let from = 0; from <= line.length;) {
    const span = pattern.find(line, from)?.[0];
    if (span === undefined) return;
    yield span;
    const pair = (line.codePointAt(span.to) ?? 0) > 0xffff;
    from = span.to > span.from ? span.to : span.to + (pair ? 2 : 1);
  }
}
