/**
 * JavaScript's functions as the prelude needs them, captured before any program runs.
 *
 * A program may replace `JSON.stringify`, put setters on `Object.prototype` or proxies in its
 * results. So the prelude looks nothing up later: no method by name, no `for … of`, no spread, no
 * assignment to a new property of an object that has a prototype.
 * @module
 */

/** The type of `Function.prototype.call.bind(method)`: `this` becomes the first argument. */
type Uncurried<Self, Method extends (...args: never[]) => unknown> = (
  self: Self,
  ...args: Parameters<Method>
) => ReturnType<Method>;

const {
  apply,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  ownKeys,
} = Reflect;
const bind = Function.prototype.bind;
const call = Function.prototype.call;

/** A method as a function of its object: `uncurry("".slice)(text, 0, 3)`. */
export function uncurry<Self, Method extends (...args: never[]) => unknown>(
  method: Method,
): Uncurried<Self, Method> {
  return apply(bind, call, [method]);
}

export { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys };

/** The original `JSON.parse`. */
export const parseJson: (text: string) => unknown = JSON.parse;
/** The original `JSON.stringify`. */
export const stringify: (
  value: unknown,
  replacer?: (this: unknown, key: string, value: unknown) => unknown,
) => string | undefined = JSON.stringify;

export const { freeze, keys } = Object;
export const { isArray } = Array;
export const { min, max } = Math;
/** `String(value)`. */
export const makeString = String;
/** The original class Error; the classes below are originals, too. */
export const MakeError = Error;
/** The class TypeError. */
export const MakeTypeError = TypeError;
/** The class Map. */
export const MakeMap = Map;
/** The class Promise. */
export const MakePromise = Promise;
/** The class Uint8Array. */
export const MakeBytes = Uint8Array;

/** `promise.then(done, failed)`. */
export const then: (
  promise: Promise<unknown>,
  done: (value: unknown) => void,
  failed: (reason: unknown) => void,
) => unknown = uncurry(Promise.prototype.then);
const resolve = Promise.resolve;
/** `Promise.resolve(value)`; runs a program's getters `constructor` and `then` of `value`. */
export function promiseOf(value: unknown): Promise<unknown> {
  return apply(resolve, MakePromise, [value]);
}

/** `object[key]` for an own property that is not a getter; undefined otherwise. */
export function own(object: unknown, key: PropertyKey): unknown {
  if (typeof object !== "object" || object === null) return undefined;
  return getOwnPropertyDescriptor(object, key)?.value;
}

const isPrototypeOf: (value: never) => boolean = Object.prototype.isPrototypeOf;
/** Whether `prototype` is in the prototype chain of `value`; a proxy answers for itself. */
export const isA: (prototype: object, value: unknown) => boolean = (prototype, value) =>
  apply(isPrototypeOf, prototype, [value]);
/** `text.slice(from, to)`. */
export const slice: Uncurried<string, typeof String.prototype.slice> = uncurry("".slice);
/** `text.indexOf(part, from)`. */
export const indexOf: Uncurried<string, typeof String.prototype.indexOf> = uncurry("".indexOf);
/** `text.charCodeAt(index)`. */
export const charCodeAt: Uncurried<string, typeof String.prototype.charCodeAt> = uncurry(
  "".charCodeAt,
);
/** `map.get(key)`. */
export const mapGet: <K, V>(map: Map<K, V>, key: K) => V | undefined = uncurry(Map.prototype.get);
/** `map.set(key, value)`. */
export const mapSet: <K, V>(map: Map<K, V>, key: K, value: V) => unknown = uncurry(
  Map.prototype.set,
);
/** `map.delete(key)`. */
export const mapDelete: <K, V>(map: Map<K, V>, key: K) => boolean = uncurry(Map.prototype.delete);
/** `map.forEach(each)`. */
export const mapForEach: <K, V>(map: Map<K, V>, each: (value: V, key: K) => void) => void = uncurry(
  Map.prototype.forEach,
);
const sizeOf = Object.getOwnPropertyDescriptor(Map.prototype, "size")?.get;
/** The number of entries of `map`. */
export function mapSize(map: Map<unknown, unknown>): number {
  return sizeOf === undefined ? 0 : apply(sizeOf, map, []);
}
/** `set.forEach(each)`. */
export const setForEach: <V>(set: Set<V>, each: (value: V) => void) => void = uncurry(
  Set.prototype.forEach,
);

/** Adds `item` to `list`, ignoring setters on `Array.prototype`. */
export function push<T>(list: T[], item: T): void {
  defineProperty(list, list.length, {
    __proto__: null,
    value: item,
    writable: true,
    enumerable: true,
    configurable: true,
  } as PropertyDescriptor);
}

/** Defines a property that cannot be changed. */
export function fix(object: object, key: PropertyKey, value: unknown, enumerable = true): void {
  defineProperty(object, key, {
    __proto__: null,
    value,
    enumerable,
    writable: false,
    configurable: false,
  } as PropertyDescriptor);
}

/** Defines an ordinary property, ignoring setters. */
export function put(object: object, key: PropertyKey, value: unknown, enumerable = false): void {
  defineProperty(object, key, {
    __proto__: null,
    value,
    enumerable,
    writable: true,
    configurable: true,
  } as PropertyDescriptor);
}
