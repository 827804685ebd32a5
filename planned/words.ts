/** What a program may call beside tools: methods of texts and lists, and functions of the box. docs/planned_programs.md. @module */

/** Methods that take no function. */
export const PLAIN_METHODS: ReadonlySet<string> = new Set([
  ...["at", "charAt", "concat", "endsWith", "flat", "includes", "indexOf", "join", "lastIndexOf"],
  ...["padEnd", "padStart", "repeat", "replace", "replaceAll", "reverse", "slice", "split"],
  ...["startsWith", "substring", "toFixed", "toLowerCase", "toReversed", "toString", "toUpperCase"],
  ...["trim", "trimEnd", "trimStart"],
]);

/** Methods of lists whose first argument is a function. */
export const FUNCTION_METHODS: ReadonlySet<string> = new Set([
  ...["every", "filter", "find", "findIndex", "findLast", "flatMap", "map", "reduce", "some"],
]);

/** Methods that take a function or none. */
export const SORTS: ReadonlySet<string> = new Set(["sort", "toSorted"]);

/** Functions of the box, by what they are written as. */
export const BOX: ReadonlySet<string> = new Set([
  ...["Array.isArray", "Boolean", "JSON.parse", "JSON.stringify", "Math.abs", "Math.ceil"],
  ...["Math.floor", "Math.max", "Math.min", "Math.round", "Number", "Number.isInteger"],
  ...["Number.parseFloat", "Number.parseInt", "Object.entries", "Object.fromEntries"],
  ...["Object.keys", "Object.values", "Promise.all", "String", "isNaN", "parseFloat", "parseInt"],
]);

/** Of those, what may be handed to a list's method by its name. */
export const HANDED: ReadonlySet<string> = new Set(["Boolean", "Number", "String"]);
