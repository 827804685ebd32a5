/** The keys that remit.yaml allows at a place, and the one most likely meant by an unknown key. @module */
import * as z from "zod";
import { RemitConfig } from "../contracts/policy/mod.ts";
import { nearest } from "../text/nearest.ts";

/** The part of a JSON Schema that names keys. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | boolean;
  readonly items?: Shape | readonly Shape[];
  readonly anyOf?: readonly Shape[];
}

function stepInto(shape: Shape, step: PropertyKey): readonly Shape[] {
  const { properties = {}, additionalProperties, items } = shape;
  const named = typeof step === "string" && Object.hasOwn(properties, step)
    ? properties[step]
    : undefined;
  if (named !== undefined) return branches(named);
  if (typeof additionalProperties === "object") return branches(additionalProperties);
  return typeof step === "number" && items !== undefined && !Array.isArray(items)
    ? branches(items as Shape)
    : [];
}

function branches(shape: Shape): readonly Shape[] {
  return shape.anyOf === undefined ? [shape] : shape.anyOf.flatMap(branches);
}

/** The keys allowed in the map at `path`; empty where any name is allowed, or the place holds no map. */
export function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  const root = z.toJSONSchema(RemitConfig, { io: "input" }) as Shape;
  const found = path.reduce<readonly Shape[]>(
    (shapes, step) => shapes.flatMap((each) => stepInto(each, step)),
    [root],
  );
  return [...new Set(found.flatMap(({ properties = {} }) => Object.keys(properties)))];
}

/** `; did you mean "model"?`, or the allowed keys; empty where neither helps. */
export function meantKey(path: readonly PropertyKey[], unknown: string): string {
  const known = knownKeys(path);
  const near = nearest(unknown, known);
  if (near !== undefined) return `; did you mean "${near}"?`;
  return known.length === 0 || known.length > 24 ? "" : `; there is ${known.join(", ")}`;
}
