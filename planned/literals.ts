/** Evaluates the parts of a program whose values the text itself fixes. Used by analyse.ts. @module */
import type { Json } from "../contracts/base/json.ts";
import type { Binary, Expression, PlanProgram, Statement } from "../contracts/exchange/planned.ts";
import { inside } from "./tree.ts";

/** A value fixed by the text, and its size in characters and items. */
interface Said {
  readonly json: Json;
  readonly size: number;
}

/** Largest value that is evaluated, in characters and items. */
const MAX_SIZE = 20_000;

const COMPUTED: Readonly<Partial<Record<Binary, (a: number, b: number) => number>>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};

/** Returns the variables that are set exactly once, with their values. */
export function setOnce({ functions }: PlanProgram): ReadonlyMap<number, Expression> {
  const once = new Map<number, Expression>(), changed = new Set<number>();
  const look = (statements: readonly Statement[]): void => {
    for (const each of statements) {
      if (each.s === "let" && each.fixed) once.set(each.id, each.value);
      if (each.s === "set") changed.add(each.id);
      for (const inner of inside(each)) look(inner);
    }
  };
  for (const { body } of functions) look(body);
  for (const id of changed) once.delete(id);
  return once;
}

/** Makes an evaluator of fixed values: undefined where the text does not fix one. */
export function makeLiterals(
  once: ReadonlyMap<number, Expression>,
): (node: Expression) => Json | undefined {
  const kept = new Map<number, Said | undefined>();
  /** Undefined where the text does not fix the value, or the value is too large. */
  const read = (node: Expression): Said | undefined => {
    const all = (nodes: readonly Expression[]): readonly Said[] | undefined => {
      const found: Said[] = [];
      let size = 0;
      for (const each of nodes) {
        const said = read(each);
        size += said?.size ?? 0;
        // INVARIANT: a value that is named twice counts twice (test: "a value that doubles itself
        // …").
        if (said === undefined || size > MAX_SIZE) return undefined;
        found.push(said);
      }
      return found;
    };
    const said = (json: Json, of: readonly Said[] = []): Said => ({
      json,
      size: of.reduce((sum, each) => sum + each.size, typeof json === "string" ? json.length : 1),
    });
    switch (node.k) {
      case "literal":
        return node.value === undefined ? undefined : said(node.value);
      case "variable": {
        if (kept.has(node.id)) return kept.get(node.id);
        const value = once.get(node.id);
        // A variable that refers to itself has no fixed value.
        kept.set(node.id, undefined);
        const found = value === undefined ? undefined : read(value);
        kept.set(node.id, found);
        return found;
      }
      case "template": {
        const values = all(node.of)?.map(({ json }) => json);
        if (
          values?.every((each) => typeof each === "string" || typeof each === "number") !== true
        ) {
          return undefined;
        }
        return said(node.texts.map((text, n) => `${n === 0 ? "" : values[n - 1]}${text}`).join(""));
      }
      case "minus": {
        const value = read(node.of)?.json;
        return typeof value === "number" ? said(-value) : undefined;
      }
      case "binary": {
        const [a, b] = all([node.a, node.b])?.map(({ json }) => json) ?? [];
        if (node.op === "+" && typeof a === "string" && typeof b === "string") return said(a + b);
        if (typeof a !== "number" || typeof b !== "number") return undefined;
        const value = COMPUTED[node.op]?.(a, b) ?? NaN;
        return Number.isFinite(value) ? said(value) : undefined;
      }
      case "list": {
        if (node.items.some(({ spread }) => spread)) return undefined;
        const items = all(node.items.map(({ value }) => value));
        return items && said(items.map(({ json }) => json), items);
      }
      case "record": {
        const fields = all(node.fields.map(({ value }) => value));
        const keys = node.fields.map(({ key }) =>
          key?.k === "literal" ? String(key.value) : undefined
        );
        if (fields === undefined || keys.includes(undefined)) return undefined;
        return said(
          Object.fromEntries(keys.map((key, n) => [key, fields[n]?.json ?? null])),
          fields,
        );
      }
      default:
        return undefined;
    }
  };
  return (node) => read(node)?.json;
}
