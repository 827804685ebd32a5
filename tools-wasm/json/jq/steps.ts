/** Follows paths: reads, and edits a copy in place. @module */
import { compare, isList, isObject, type Json, kindOf } from "../values.ts";
import { FilterError, shown, type Slice, type Spot, type Step } from "./run_state.ts";

/** Maximum elements that setting an index may fill with null. */
const GAP = 100_000;

/** The value at `key`, with its path. @throws {FilterError} for an unsuitable key */
export function atKey(spot: Spot, key: Json): Spot {
  const step = stepOf(key);
  const value = step === undefined && isList(spot.value) && isList(key)
    ? indexesOf(spot.value, key)
    : step === undefined
    ? cannotIndex(spot.value, key)
    : get(spot.value, step);
  if (step === undefined || spot.path === undefined) return { value };
  return { value, path: [...spot.path, step] };
}

/** A JSON value as a step; undefined for an unsuitable one. */
export function stepOf(key: Json): Step | undefined {
  if (typeof key === "string" || typeof key === "number") return key;
  if (!isObject(key)) return undefined;
  const [start, end] = [key["start"] ?? null, key["end"] ?? null];
  const open = (bound: Json): bound is number | null => bound === null || typeof bound === "number";
  return open(start) && open(end) ? { start, end } : undefined;
}

/** A step as JSON. */
export function stepToJson(step: Step): Json {
  return typeof step === "object" ? { start: step.start, end: step.end } : step;
}

/** The value one step away; null where nothing is. */
export function get(value: Json, step: Step): Json {
  if (value === null) return null;
  if (typeof step === "string" && isObject(value)) {
    return Object.hasOwn(value, step) ? value[step] ?? null : null;
  }
  if (typeof step === "number" && isList(value)) {
    const at = Math.floor(step);
    return value[at < 0 ? value.length + at : at] ?? null;
  }
  if (typeof step === "object") {
    if (isList(value)) {
      const { from, to } = boundsOf(step, value.length);
      return value.slice(from, to);
    }
    if (typeof value === "string") {
      const points = [...value];
      const { from, to } = boundsOf(step, points.length);
      return points.slice(from, to).join("");
    }
  }
  return cannotIndex(value, stepToJson(step));
}

/** First and last index (exclusive) of a slice within `length`. */
function boundsOf(
  { start, end }: Slice,
  length: number,
): { readonly from: number; readonly to: number } {
  const clamp = (bound: number): number =>
    Math.max(0, Math.min(length, bound < 0 ? length + bound : bound));
  const from = start === null ? 0 : clamp(Math.floor(start));
  return { from, to: Math.max(from, end === null ? length : clamp(Math.ceil(end))) };
}

function cannotIndex(value: Json, key: Json): never {
  const how = typeof key === "string" ? `"${key.slice(0, 60)}"` : kindOf(key);
  throw new FilterError(`Cannot index ${kindOf(value)} with ${how}`);
}

/** Positions at which `part` begins in `list`. */
export function indexesOf(list: readonly Json[], part: readonly Json[]): readonly number[] {
  const found: number[] = [];
  for (let at = 0; part.length > 0 && at + part.length <= list.length; at += 1) {
    if (part.every((item, offset) => compare(item, list[at + offset] ?? null) === 0)) {
      found.push(at);
    }
  }
  return found;
}

/** Changes to one value. */
export interface Editor {
  get(path: readonly Step[]): Json;
  set(path: readonly Step[], value: Json): void;
  /** Removes all these paths, interpreted before any removal. */
  remove(paths: readonly (readonly Step[])[]): void;
  /** The value with all changes. The editor must not be used afterwards. */
  finish(): Json;
}

/** Makes an editor. It copies each array and object once, before its first change. */
export function makeEditor(input: Json): Editor {
  let root = input;
  const owned = new Set<unknown>();

  const ownList = (value: Json): Json[] => {
    // Values in `owned` were copied here, so nobody else sees them change.
    if (Array.isArray(value) && owned.has(value)) return value;
    const copy: Json[] = isList(value) ? [...value] : [];
    owned.add(copy);
    return copy;
  };
  const ownObject = (value: Json): Record<string, Json> => {
    if (isObject(value) && owned.has(value)) return value;
    const copy: Record<string, Json> = isObject(value) ? { ...value } : {};
    owned.add(copy);
    return copy;
  };

  const change = (
    value: Json,
    path: readonly Step[],
    at: number,
    next: (old: Json) => Json,
  ): Json => {
    const step = path[at];
    if (step === undefined) return next(value);
    const below = (old: Json): Json => change(old, path, at + 1, next);
    if (typeof step === "string" && (isObject(value) || value === null)) {
      const copy = ownObject(value);
      put(copy, step, below(get(copy, step)));
      return copy;
    }
    if (typeof step === "number" && (isList(value) || value === null)) {
      const copy = ownList(value);
      const index = placeIn(copy, step);
      const made = below(copy[index] ?? null);
      while (copy.length < index) copy.push(null);
      copy[index] = made;
      return copy;
    }
    if (typeof step === "object" && (isList(value) || value === null)) {
      const copy = ownList(value);
      const { from, to } = boundsOf(step, copy.length);
      const made = below(copy.slice(from, to));
      if (!isList(made)) {
        throw new FilterError("A slice of an array can only be assigned another array");
      }
      const joined = [...copy.slice(0, from), ...made, ...copy.slice(to)];
      owned.add(joined);
      return joined;
    }
    return cannotIndex(value, stepToJson(step));
  };

  const removeOne = (path: readonly Step[]): void => {
    const last = path[path.length - 1];
    if (last === undefined) {
      root = null;
      return;
    }
    const parent = path.slice(0, -1);
    if (getAt(root, parent) === null) return;
    root = change(root, parent, 0, (value) => without(value, last));
  };

  const without = (value: Json, step: Step): Json => {
    if (typeof step === "string" && isObject(value)) {
      const copy = ownObject(value);
      delete copy[step];
      return copy;
    }
    if (typeof step !== "string" && isList(value)) {
      const index = typeof step === "number" ? Math.floor(step) : 0;
      const from = index < 0 ? value.length + index : index;
      const { from: first, to } = typeof step === "number"
        ? { from, to: from < 0 ? from : from + 1 }
        : boundsOf(step, value.length);
      if (first < 0 || first >= to) return value;
      const copy = ownList(value);
      copy.splice(first, to - first);
      return copy;
    }
    return value === null ? null : cannotIndex(value, stepToJson(step));
  };

  return Object.freeze({
    get: (path: readonly Step[]) => getAt(root, path),
    set: (path: readonly Step[], value: Json) => {
      root = change(root, path, 0, () => value);
    },
    remove: (paths: readonly (readonly Step[])[]) => {
      const asJson = (path: readonly Step[]): Json => path.map(stepToJson);
      // From the last to the first: removing one path moves none of the remaining ones.
      for (const path of [...paths].sort((a, b) => compare(asJson(b), asJson(a)))) removeOne(path);
    },
    finish: () => root,
  });
}

/** The value at the end of a path; null where a step leads nowhere. */
export function getAt(value: Json, path: readonly Step[]): Json {
  let here = value;
  for (const step of path) here = get(here, step);
  return here;
}

function placeIn(list: readonly Json[], step: number): number {
  const at = Math.floor(step);
  const index = at < 0 ? list.length + at : at;
  if (index < 0) throw new FilterError("Out of bounds negative array index");
  if (index > list.length + GAP) throw new FilterError(`Array index too large: ${shown(step)}`);
  return index;
}

/** Sets a key whatever its name, including `__proto__`. */
function put(object: Record<string, Json>, key: string, value: Json): void {
  if (key !== "__proto__") object[key] = value;
  else {Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });}
}
