/**
 * Parses a filter: the pipe and the operators; terms.ts parses everything that binds tighter.
 * @module
 */
import { makeCursor } from "./cursor.ts";
import { type Assignment, type Ast, type Definition, IDENTITY, type Operator } from "./syntax.ts";
import { makeTerms, type Reader } from "./terms.ts";

/** An operator's strength and associativity. */
interface Binding {
  readonly sign: string;
  readonly power: number;
  readonly side: "left" | "right" | "none";
}

const BINDINGS: readonly Binding[] = [
  { sign: ",", power: 1, side: "left" },
  { sign: "//", power: 2, side: "right" },
  ...["=", "|=", "+=", "-=", "*=", "/=", "%=", "//="].map((
    sign,
  ) => ({ sign, power: 3, side: "none" } as const)),
  { sign: "or", power: 4, side: "left" },
  { sign: "and", power: 5, side: "left" },
  ...["==", "!=", "<=", ">=", "<", ">"].map((sign) => ({ sign, power: 6, side: "none" } as const)),
  ...["+", "-"].map((sign) => ({ sign, power: 7, side: "left" } as const)),
  ...["*", "/", "%"].map((sign) => ({ sign, power: 8, side: "left" } as const)),
];

/**
 * Parses a whole filter.
 *
 * @throws {Fault} `invalidArguments` with the position and what is missing there
 */
export function parseFilter(source: string): Ast {
  const { cursor, reader } = open(source);
  if (cursor.done()) return IDENTITY;
  const ast = reader.pipe();
  if (!cursor.done()) throw cursor.fail("the filter should end here");
  return ast;
}

/** Parses definitions (`def f: …; def g(x): …;`) up to the end. */
export function parseDefinitions(source: string): readonly Definition[] {
  const { cursor, reader } = open(source);
  const found: Definition[] = [];
  while (!cursor.done()) {
    const definition = reader.definition();
    if (definition === undefined) throw cursor.fail("a definition is missing");
    found.push(definition);
  }
  return found;
}

function open(source: string) {
  const cursor = makeCursor(source);

  const pipe = (): Ast =>
    cursor.nested(() => {
      const definition = reader.definition();
      if (definition !== undefined) return { kind: "def", definition, rest: pipe() };
      const parts = [expression(1)];
      while (cursor.sign("|")) {
        const inner = reader.definition();
        parts.push(
          inner === undefined ? expression(1) : { kind: "def", definition: inner, rest: pipe() },
        );
      }
      // Folded from the right, so that `as` in a part binds everything behind it.
      return parts.reduceRight((right, left) => ({ kind: "pipe", left, right }));
    });

  const expression = (weakest: number): Ast =>
    cursor.nested(() => {
      let left = terms.postfix();
      let barred = Infinity;
      while (true) {
        const found = BINDINGS.find(({ sign, power }) =>
          power >= weakest && power < barred &&
          (/[a-z]/.test(sign) ? cursor.word(sign) : cursor.sign(sign))
        );
        if (found === undefined) return left;
        const right = expression(found.side === "right" ? found.power : found.power + 1);
        left = join(found.sign, left, right);
        if (found.side === "none") barred = found.power;
      }
    });

  const reader: Reader = {
    pipe,
    expression,
    definition: () => terms.definition(),
  };
  const terms = makeTerms(cursor, reader);
  return { cursor, reader };
}

const OPERATORS: readonly Operator[] = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="];
const ASSIGNMENTS: readonly Assignment[] = ["=", "|=", "+=", "-=", "*=", "/=", "%=", "//="];

function join(sign: string, left: Ast, right: Ast): Ast {
  const op = OPERATORS.find((known) => known === sign);
  if (op !== undefined) return { kind: "binary", op, left, right };
  const assignment = ASSIGNMENTS.find((known) => known === sign);
  if (assignment !== undefined) return { kind: "assign", op: assignment, left, right };
  switch (sign) {
    case ",":
      return { kind: "comma", left, right };
    case "//":
      return { kind: "alternative", left, right };
    case "and":
      return { kind: "and", left, right };
    default:
      return { kind: "or", left, right };
  }
}
