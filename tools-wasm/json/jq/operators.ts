/** Operators on two values. @module */
import { compare, isList, isObject, type Json, LONGEST } from "../values.ts";
import { boundedText, FilterError, shown } from "./run_state.ts";
import type { Operator } from "./syntax.ts";

/** Applies an operator. @throws {FilterError} for unsuitable values */
export function operate(op: Operator, left: Json, right: Json): Json {
  switch (op) {
    case "+":
      return plus(left, right);
    case "-":
      return minus(left, right);
    case "*":
      return times(left, right);
    case "/":
      return divided(left, right);
    case "%":
      return remainder(left, right);
    case "==":
      return compare(left, right) === 0;
    case "!=":
      return compare(left, right) !== 0;
    case "<":
      return compare(left, right) < 0;
    case "<=":
      return compare(left, right) <= 0;
    case ">":
      return compare(left, right) > 0;
    case ">=":
      return compare(left, right) >= 0;
  }
}

function plus(left: Json, right: Json): Json {
  if (left === null) return right;
  if (right === null) return left;
  if (typeof left === "number" && typeof right === "number") return finite(left + right);
  if (typeof left === "string" && typeof right === "string") return boundedText(left + right);
  if (isList(left) && isList(right)) return left.concat(right);
  if (isObject(left) && isObject(right)) return { ...left, ...right };
  throw new FilterError(`${shown(left)} and ${shown(right)} cannot be added`);
}

function minus(left: Json, right: Json): Json {
  if (typeof left === "number" && typeof right === "number") return finite(left - right);
  if (isList(left) && isList(right)) {
    return left.filter((item) => !right.some((other) => compare(item, other) === 0));
  }
  throw new FilterError(`${shown(left)} and ${shown(right)} cannot be subtracted`);
}

function times(left: Json, right: Json): Json {
  if (typeof left === "number" && typeof right === "number") return finite(left * right);
  if (typeof left === "string" && typeof right === "number") return repeated(left, right);
  if (typeof left === "number" && typeof right === "string") return repeated(right, left);
  if (isObject(left) && isObject(right)) return merged(left, right);
  throw new FilterError(`${shown(left)} and ${shown(right)} cannot be multiplied`);
}

function repeated(text: string, times: number): Json {
  if (times <= 0) return null;
  if (text.length * times > LONGEST) boundedText(`${" ".repeat(LONGEST)} `);
  return text.repeat(Math.max(1, Math.floor(times)));
}

function merged(left: Json, right: Json): Json {
  if (!isObject(left) || !isObject(right)) return right;
  const entries = Object.entries(right).map(([key, value]): [string, Json] => [
    key,
    Object.hasOwn(left, key) ? merged(left[key] ?? null, value) : value,
  ]);
  return { ...left, ...Object.fromEntries(entries) };
}

function divided(left: Json, right: Json): Json {
  if (typeof left === "string" && typeof right === "string") return splitText(left, right);
  if (typeof left === "number" && typeof right === "number") {
    if (right === 0) throw divisor(left, right);
    return finite(left / right);
  }
  throw new FilterError(`${shown(left)} and ${shown(right)} cannot be divided`);
}

/** Splits a text; an empty text has no parts, and an empty separator splits characters. */
export function splitText(text: string, by: string): readonly string[] {
  if (text === "") return [];
  return by === "" ? [...text] : text.split(by);
}

function remainder(left: Json, right: Json): Json {
  if (typeof left !== "number" || typeof right !== "number") {
    throw new FilterError(`${shown(left)} and ${shown(right)} cannot be divided`);
  }
  const by = Math.abs(Math.trunc(right));
  if (by === 0) throw divisor(left, right);
  return Math.trunc(left) % by || 0;
}

function divisor(left: Json, right: Json): FilterError {
  return new FilterError(
    `${shown(left)} and ${shown(right)} cannot be divided because the divisor is zero`,
  );
}

/** JSON has no infinite numbers: they become the largest number, as in jq. */
export function finite(value: number): number | null {
  if (Number.isNaN(value)) return null;
  return Number.isFinite(value) ? value : value < 0 ? -Number.MAX_VALUE : Number.MAX_VALUE;
}
