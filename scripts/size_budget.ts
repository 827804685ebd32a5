/**
 * How large the house may be: files and lines of each top folder and of what each process loads, as `deno task size`
 * counts them. A change that needs more says in its message what it took away instead. A budget only falls, or is raised
 * together with a capability that users asked for.
 *
 * @module
 */

/** `name → [files, lines]`. `house` is everything without tests, fixtures and examples. */
export const BUDGET: Readonly<Record<string, readonly [number, number]>> = Object.freeze({});
