/**
 * Checks values against JSON Schema 2020-12, interpreted: nothing is generated, expressions match in linear time,
 * references stay within the document. `format` says nothing, as the specification has it by default.
 * @module
 */
import { Refusal } from "../refusal.ts";
import { isList, isObject, type Json, type JsonObject } from "../values.ts";
import { branchRules } from "./branch_rules.ts";
import {
  below,
  type CheckState,
  escape,
  NOTHING,
  type Outcome,
  type Place,
  ruled,
  together,
  wrong,
} from "./check_state.ts";
import { makePatterns, scalarRules } from "./scalar_rules.ts";
import { checkForm } from "./schema_form.ts";
import { indexSchema } from "./schema_index.ts";
import type { SchemaError } from "./check_state.ts";

/** Schemas within schemas for one value: past it a reference goes round. */
const DEEPEST_RULE = 200;

/**
 * Everything that is wrong with `value`.
 *
 * @throws {Refusal} `invalidArguments` for a schema with a bad keyword, pattern or reference, `tooLarge` past the budget.
 */
export function checkSchema(
  schema: Json,
  value: Json,
  { spend }: Pick<CheckState, "spend">,
): readonly SchemaError[] {
  checkForm(schema, { spend });
  const state: CheckState = { index: indexSchema(schema), spend };
  const matches = makePatterns(state);

  const check = (rules: Json, part: Json, place: Place): Outcome => {
    spend(1);
    if (rules === true) return NOTHING;
    if (rules === false) return wrong(place, "must not be here");
    if (!isObject(rules)) {
      throw new Refusal("invalidArguments", `Cannot use the schema: ${place.rule || "it"} is none`);
    }
    const depth = place.depth + 1;
    if (depth > DEEPEST_RULE) {
      throw new Refusal(
        "invalidArguments",
        `Cannot use the schema: it is nested too deep, or refers to itself for ever`,
      );
    }
    const here = { ...place, depth };
    const before = together([
      ...scalarRules(rules, part, here),
      patternRule(rules, part, here),
      ...branchRules(rules, part, { place: here, check, state }),
      ...objectRules(rules, part, here),
      ...arrayRules(rules, part, here),
    ]);
    return together([before, unevaluated(rules, part, { place: here, before })]);
  };

  const patternRule = (rules: JsonObject, part: Json, place: Place): Outcome => {
    const pattern = rules["pattern"];
    if (typeof pattern !== "string" || typeof part !== "string" || matches(pattern, part)) {
      return NOTHING;
    }
    return wrong(ruled(place, "pattern"), `must match ${pattern.slice(0, 80)}`);
  };

  const objectRules = (rules: JsonObject, part: Json, place: Place): readonly Outcome[] => {
    if (!isObject(part)) return [];
    const errors: SchemaError[] = [];
    const keys = new Set<string>();
    const known = objectAt(rules, "properties");
    const patterns = Object.entries(objectAt(rules, "patternProperties"));
    for (const [key, item] of Object.entries(part)) {
      const apply = (inner: Json, rule: string): void => {
        keys.add(key);
        for (const error of check(inner, item, below(place, key, rule)).errors) errors.push(error);
      };
      if (Object.hasOwn(known, key)) apply(known[key] ?? null, `properties/${escape(key)}`);
      for (const [pattern, inner] of patterns) {
        if (matches(pattern, key)) apply(inner, `patternProperties/${escape(pattern)}`);
      }
      const rest = rules["additionalProperties"];
      if (!keys.has(key) && rest !== undefined) apply(rest, "additionalProperties");
      const names = rules["propertyNames"];
      if (names === undefined) continue;
      for (const error of check(names, key, below(place, key, "propertyNames")).errors) {
        errors.push(error);
      }
    }
    return [{ errors, keys, items: NOTHING.items }];
  };

  const arrayRules = (rules: JsonObject, part: Json, place: Place): readonly Outcome[] => {
    if (!isList(part)) return [];
    // Until 2019-09 a list of schemas stood under `items`, and the rest under `additionalItems`.
    const older = rules["items"] !== undefined && isList(rules["items"]);
    const head = older ? rules["items"] : rules["prefixItems"];
    const rest = older ? rules["additionalItems"] : rules["items"];
    const first = head !== undefined && isList(head) ? head : [];
    const errors: SchemaError[] = [];
    const items = new Set<number>();
    for (const [at, item] of part.entries()) {
      const inner = first[at] ?? rest;
      if (inner === undefined) continue;
      items.add(at);
      const rule = at < first.length ? `prefixItems/${at}` : "items";
      for (const error of check(inner, item, below(place, at, rule)).errors) errors.push(error);
    }
    return [{ errors, items, keys: NOTHING.keys }, ...containsRule(rules, part, place)];
  };

  const containsRule = (
    rules: JsonObject,
    part: readonly Json[],
    place: Place,
  ): readonly Outcome[] => {
    const inner = rules["contains"];
    if (inner === undefined) return [];
    const fitting = part.flatMap((item, at) =>
      check(inner, item, below(place, at, "contains")).errors.length === 0 ? [at] : []
    );
    const least = typeof rules["minContains"] === "number" ? rules["minContains"] : 1;
    const most = typeof rules["maxContains"] === "number" ? rules["maxContains"] : Infinity;
    const seen = { ...NOTHING, items: new Set(fitting) };
    if (fitting.length >= least && fitting.length <= most) return [seen];
    const words = fitting.length < least ? `at least ${least}` : `at most ${most}`;
    return [
      seen,
      wrong(
        ruled(place, "contains"),
        `must hold ${words} items that fit, and holds ${fitting.length}`,
      ),
    ];
  };

  const unevaluated = (
    rules: JsonObject,
    part: Json,
    { place, before }: { readonly place: Place; readonly before: Outcome },
  ): Outcome => {
    const found: Outcome[] = [];
    const [forKeys, forItems] = [rules["unevaluatedProperties"], rules["unevaluatedItems"]];
    if (forKeys !== undefined && isObject(part)) {
      for (const key of Object.keys(part).filter((name) => !before.keys.has(name))) {
        const { errors } = check(
          forKeys,
          part[key] ?? null,
          below(place, key, "unevaluatedProperties"),
        );
        found.push({ ...NOTHING, errors, keys: new Set([key]) });
      }
    }
    if (forItems !== undefined && isList(part)) {
      for (const [at, item] of part.entries()) {
        if (before.items.has(at)) continue;
        const { errors } = check(forItems, item, below(place, at, "unevaluatedItems"));
        found.push({ ...NOTHING, errors, items: new Set([at]) });
      }
    }
    return together(found);
  };

  return check(schema, value, { at: "", rule: "", depth: 0 }).errors;
}

function objectAt(rules: JsonObject, keyword: string): JsonObject {
  const found = rules[keyword];
  return found !== undefined && isObject(found) ? found : {};
}
