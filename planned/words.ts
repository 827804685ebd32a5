/**
 * What a program may call beside tools: methods of texts and lists, and built-in functions.
 * docs/planned_programs.md. @module
 */

/** Methods that take no function. */
export const PLAIN_METHODS: ReadonlySet<string> = new Set([
  ...["at", "charAt", "concat", "endsWith", "flat", "includes", "indexOf", "join", "lastIndexOf"],
  ...["padEnd", "padStart", "repeat", "replace", "replaceAll", "reverse", "slice", "split"],
  ...["startsWith", "substring", "toFixed", "toLowerCase", "toReversed", "toString", "toUpperCase"],
  ...["trim", "trimEnd", "trimStart"],
]);

/** List methods whose first argument is a function. */
export const FUNCTION_METHODS: ReadonlySet<string> = new Set([
  ...["every", "filter", "find", "findIndex", "findLast", "flatMap", "map", "reduce", "some"],
]);

/** Methods that take an optional function. */
export const SORTS: ReadonlySet<string> = new Set(["sort", "toSorted"]);

/** Built-in functions, as programs write them. */
export const BUILTINS: ReadonlySet<string> = new Set([
  ...["Array.isArray", "Boolean", "JSON.parse", "JSON.stringify", "Math.abs", "Math.ceil"],
  ...["Math.floor", "Math.max", "Math.min", "Math.round", "Number", "Number.isInteger"],
  ...["Number.parseFloat", "Number.parseInt", "Object.entries", "Object.fromEntries"],
  ...["Object.keys", "Object.values", "Promise.all", "String", "isNaN", "parseFloat", "parseInt"],
]);

/** Built-in functions that may be passed to a list method by name. */
export const PASSED_BY_NAME: ReadonlySet<string> = new Set(["Boolean", "Number", "String"]);
