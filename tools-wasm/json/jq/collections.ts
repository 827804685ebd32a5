/** Sums, joins and flattening, each in time linear in the input. @module */
import { isList, isObject, type Json, kindOf } from "../values.ts";
import { textOf } from "./formats.ts";
import { operate } from "./operators.ts";
import { boundedText, type Budget, FilterError, shown } from "./run_state.ts";

/** `add`: the sum of an array's elements or an object's values; null for none. */
export function sum(value: Json): Json {
  if (!isList(value) && !isObject(value)) {
    throw new FilterError(`Cannot iterate over ${kindOf(value)}`);
  }
  const items = (isList(value) ? value : Object.values(value)).filter((item) => item !== null);
  if (items.length > 0 && items.every((item) => typeof item === "string")) {
    return boundedText(items.join(""));
  }
  // Folding these with + would copy what was summed so far each time.
  if (items.length > 0 && items.every(isList)) return items.flat();
  if (items.length > 0 && items.every(isObject)) {
    return Object.fromEntries(items.flatMap(Object.entries));
  }
  return items.reduce<Json>((total, item) => operate("+", total, item), null);
}

/** `join`: texts, numbers and booleans with a text between them; null is empty. */
export function joined(items: readonly Json[], by: Json): string {
  if (items.length === 0) return "";
  if (typeof by !== "string") throw new FilterError(`${shown(by)} cannot be added to a string`);
  return items.map((item) => {
    if (item === null) return "";
    if (typeof item === "object") {
      throw new FilterError(`string ("") and ${shown(item)} cannot be added`);
    }
    return textOf(item);
  }).join(by);
}

/** `flatten`: arrays in arrays, down to `depth`. */
export function flat(items: readonly Json[], depth: number, budget: Budget): readonly Json[] {
  if (depth < 0) throw new FilterError("flatten depth must not be negative");
  budget.spend(items.length);
  return items.flatMap((item) =>
    isList(item) && depth > 0 ? flat(item, depth - 1, budget) : [item]
  );
}
