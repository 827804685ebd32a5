/** JSON Schema → GBNF. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Json } from "../../contracts/json.ts";
import { parseJson } from "../../port/parse.ts";
import { type Compiler, makeCompiler, type Note } from "./compile.ts";
import { type Expr, makeRules, type Rules } from "./gbnf.ts";
import { boundsOf, type GrammarOptions } from "./options.ts";
import { merge } from "./merge.ts";
import { asSchema, type Flat, type Schema, wrong } from "./schema.ts";

/** Largest schema that is taken. */
const LIMITS = { frameBytes: 262_144, depth: 32, nodes: 20_000 };

/** A grammar, and where it parts from its schema. */
export interface SchemaGrammar {
  readonly grammar: string;
  /** Without notes it is exact: what it writes fits, and what fits within the bounds can be written. */
  readonly notes: readonly Note[];
}

/**
 * The grammar (GBNF, `root`) of the JSON texts that fit a schema: keys in the schema's order, no white
 * space, no exponents. Keywords beyond what the gate checks are not held to (`pattern`, `format` …).
 * Throws `invalidInput` with the place for what is no schema, refers outside, or fits nothing, and
 * `tooLarge`.
 */
export function schemaGrammar(schema: Json | string, options: GrammarOptions = {}): string {
  return compileSchema(schema, options).grammar;
}

/** {@link schemaGrammar} with the places where the two part. */
export function compileSchema(schema: Json | string, options: GrammarOptions = {}): SchemaGrammar {
  const rules = makeRules();
  const notes: Note[] = [];
  const root = schemaRule(rules, schema, { options, note: (note) => notes.push(note) });
  return { grammar: rules.render(root), notes };
}

/** The rule of a schema's values, among other rules. */
export function schemaRule(
  rules: Rules,
  schema: Json | string,
  { options, note = () => {}, within }: {
    readonly options: GrammarOptions;
    readonly note?: Compiler["note"];
    /** What holds beside the schema. */
    readonly within?: Flat;
  },
): Expr {
  const root = parseSchema(schema);
  const bounds = boundsOf(options);
  const compiler = makeCompiler(root, { rules, bounds, note });
  const expr = within === undefined
    ? compiler.values(root, "", bounds.recursion)
    : compiler.flat(merge(within, compiler.flatten(root, "")), "", bounds.recursion);
  if (expr === undefined) throw wrong("", "no value fits it");
  return expr;
}

function parseSchema(schema: Json | string): Schema {
  const text = typeof schema === "string" ? schema : JSON.stringify(schema);
  let parsed: Json;
  try {
    parsed = parseJson(text, LIMITS);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "it is not JSON";
    throw new Fault("invalidInput", `Cannot make a grammar: the schema is not taken: ${why}`, {
      cause,
    });
  }
  return asSchema(parsed, "");
}
