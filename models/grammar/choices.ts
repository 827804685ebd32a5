/** Compiles `anyOf`, `oneOf` and dependencies. Used by compile.ts. @module */
import type { Compiler } from "./compile.ts";
import { alt, type Expr } from "./gbnf.ts";
import { merge } from "./merge.ts";
import { same } from "./parse_level.ts";
import type { Choice, Flat } from "./schema.ts";

/** Alternatives of one schema after all its choices are multiplied out. */
const MAX_ALTERNATIVES = 128;

/** Expression for a flat schema with choices: each alternative merged with the rest of the schema. */
export function alternatives(
  compiler: Compiler,
  flat: Flat,
  { at, hops }: { readonly at: string; readonly hops: number },
): Expr | undefined {
  const { flatten, note } = compiler;
  let bases: readonly Flat[] = [{ ...flat, choices: undefined, ignored: undefined }];
  for (const choice of flat.choices ?? []) {
    const keyword = choice.exactlyOne ? "oneOf" : "anyOf";
    const each = choice.of.map((schema, n) => flatten(schema, `${at}/${keyword}/${n}`));
    if (bases.length * each.length > MAX_ALTERNATIVES) {
      note({ path: at, how: "widened", why: "too many alternatives: some are not held to" });
      continue;
    }
    bases = bases.flatMap((base) => each.map((one) => merge(base, one)));
    if (choice.exactlyOne && !disjoint(choice, bases, compiler)) {
      const why = "a value that fits several can be written";
      note({ path: `${at}/oneOf`, how: "widened", why });
    }
  }
  return alt(bases.map((base) => {
    const expr = compiler.flat(base, at, hops);
    return expr === undefined ? undefined : compiler.rules.rule(expr);
  }));
}

/** Whether provably no value fits two of the merged alternatives. Conservative: false when in doubt. */
function disjoint(choice: Choice, bases: readonly Flat[], { flatten }: Compiler): boolean {
  if (choice.of.length === 1) return true;
  return bases.every((one, n) =>
    bases.slice(n + 1).every((other) => apart(one, other, (schema) => flatten(schema, ""), 3))
  );
}

function apart(
  a: Flat,
  b: Flat,
  flatten: (schema: Parameters<Compiler["flatten"]>[0]) => Flat,
  depth: number,
): boolean {
  const both = merge(a, b);
  if (both.kinds.size === 0) return true;
  if (a.values !== undefined && b.values !== undefined) {
    return !a.values.some((each) => b.values?.some((other) => same(each, other)) === true);
  }
  const { low, high } = both;
  const numeric = [...both.kinds].every((kind) => kind === "number" || kind === "integer");
  if (numeric && low !== undefined && high !== undefined) {
    return low.at > high.at || (low.at === high.at && (low.strict || high.strict));
  }
  if (depth === 0 || both.kinds.size !== 1 || !both.kinds.has("object")) return false;
  return (both.required ?? []).some((name) => {
    const [one, other] = [a, b].map((each) =>
      each.properties?.get(name) ?? each.additional ?? true
    );
    return one !== undefined && other !== undefined &&
      apart(flatten(one), flatten(other), flatten, depth - 1);
  });
}
