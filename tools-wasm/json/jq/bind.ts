/** Binds names to the parts of a value: the patterns behind `as`. @module */
import type { Json } from "../values.ts";
import { values } from "./evaluate.ts";
import { FilterError, type Scope, type Spot } from "./run_state.ts";
import { get } from "./steps.ts";
import type { Pattern, PatternEntry } from "./syntax.ts";

/** The context of a pattern's own expressions. */
export interface Place {
  readonly spot: Spot;
  readonly scope: Scope;
}

/** The scopes that bind `pattern` to `value`: several where a key has several values. */
export function* bind(pattern: Pattern, value: Json, { spot, scope }: Place): Iterable<Scope> {
  switch (pattern.kind) {
    case "name":
      yield withVariable(scope, pattern.name, value);
      return;
    case "list":
      yield* bindItems(pattern.items, 0, { value, spot, scope });
      return;
    case "object":
      yield* bindEntries(pattern.entries, 0, { value, spot, scope });
      return;
  }
}

/** A scope in which `$name` is `value`. */
export function withVariable(scope: Scope, name: string, value: Json): Scope {
  return { ...scope, variables: { name, value, next: scope.variables } };
}

type Parts = Place & { readonly value: Json };

function* bindItems(items: readonly Pattern[], at: number, parts: Parts): Iterable<Scope> {
  const item = items[at];
  if (item === undefined) {
    yield parts.scope;
    return;
  }
  for (const scope of bind(item, get(parts.value, at), parts)) {
    yield* bindItems(items, at + 1, { ...parts, scope });
  }
}

function* bindEntries(entries: readonly PatternEntry[], at: number, parts: Parts): Iterable<Scope> {
  const entry = entries[at];
  if (entry === undefined) {
    yield parts.scope;
    return;
  }
  for (const key of values(entry.key, parts.spot, parts.scope)) {
    if (typeof key !== "string") throw new FilterError("Object keys must be strings");
    const value = get(parts.value, key);
    const named = entry.name === undefined
      ? parts.scope
      : withVariable(parts.scope, entry.name, value);
    const scopes = entry.pattern === undefined
      ? [named]
      : bind(entry.pattern, value, { spot: parts.spot, scope: named });
    for (const scope of scopes) yield* bindEntries(entries, at + 1, { ...parts, scope });
  }
}
