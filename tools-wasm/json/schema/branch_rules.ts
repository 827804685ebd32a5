/** Rules that apply other schemas to the same value: references, all, any, one, not, if. @module */
import { isList, isObject, type Json, type JsonObject } from "../values.ts";
import {
  type Check,
  type CheckState,
  NOTHING,
  type Outcome,
  type Place,
  ruled,
  together,
  wrong,
} from "./check_state.ts";

/** Where branches are checked, and with what. */
export interface Branching {
  readonly place: Place;
  readonly check: Check;
  readonly state: CheckState;
}

/** What the branches of `rules` bring. */
export function branchRules(
  rules: JsonObject,
  value: Json,
  { place, check, state }: Branching,
): readonly Outcome[] {
  const found: Outcome[] = [];
  for (const keyword of ["$ref", "$dynamicRef"]) {
    const ref = rules[keyword];
    if (typeof ref === "string") {
      found.push(check(state.index.resolve(ref), value, ruled(place, keyword)));
    }
  }
  const listed = (keyword: string): readonly Outcome[] => {
    const schemas = rules[keyword];
    if (schemas === undefined || !isList(schemas)) return [];
    return schemas.map((inner, at) => check(inner, value, ruled(place, `${keyword}/${at}`)));
  };
  found.push(...listed("allOf"));
  if (rules["anyOf"] !== undefined) found.push(anyOf(listed("anyOf"), ruled(place, "anyOf")));
  if (rules["oneOf"] !== undefined) found.push(oneOf(listed("oneOf"), ruled(place, "oneOf")));
  if (rules["not"] !== undefined) {
    const { errors } = check(rules["not"], value, ruled(place, "not"));
    if (errors.length === 0) {
      found.push(wrong(ruled(place, "not"), "must not fit this schema, and does"));
    }
  }
  if (rules["if"] !== undefined) {
    const test = check(rules["if"], value, ruled(place, "if"));
    const keyword = test.errors.length === 0 ? "then" : "else";
    if (test.errors.length === 0) found.push(test);
    const inner = rules[keyword];
    if (inner !== undefined) found.push(check(inner, value, ruled(place, keyword)));
  }
  const dependent = rules["dependentSchemas"];
  if (dependent !== undefined && isObject(dependent) && isObject(value)) {
    for (const [key, inner] of Object.entries(dependent)) {
      if (Object.hasOwn(value, key)) {
        found.push(check(inner, value, ruled(place, `dependentSchemas/${key}`)));
      }
    }
  }
  return found;
}

function anyOf(outcomes: readonly Outcome[], place: Place): Outcome {
  const fitting = outcomes.filter(({ errors }) => errors.length === 0);
  return fitting.length > 0 ? together(fitting) : none(outcomes, place);
}

function oneOf(outcomes: readonly Outcome[], place: Place): Outcome {
  const fitting = outcomes.filter(({ errors }) => errors.length === 0);
  if (fitting.length === 1) return together(fitting);
  if (fitting.length === 0) return none(outcomes, place);
  return wrong(
    place,
    `must fit exactly one of ${outcomes.length} schemas, and fits ${fitting.length}`,
  );
}

/** None fits: what is wrong with the one that comes nearest is the most useful thing to say. */
function none(outcomes: readonly Outcome[], place: Place): Outcome {
  const nearest = outcomes.reduce<Outcome>(
    (best, next) => best === NOTHING || next.errors.length < best.errors.length ? next : best,
    NOTHING,
  );
  return together([
    wrong(place, `must fit one of ${outcomes.length} schemas, and fits none; the nearest says:`),
    { ...NOTHING, errors: nearest.errors.slice(0, 5) },
  ]);
}
