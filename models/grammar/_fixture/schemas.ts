/** Random schemas of the subset, and values that may fit them. @module */
import fc from "fast-check";
import type { Json, JsonObject } from "../../../contracts/base/json.ts";

const NAMES = ["a", "ab", "b", "path", "ä", 'q"u', "__proto__", "constructor", ""] as const;
const name = fc.constantFrom(...NAMES);

const bounds = (least: string, most: string, top: number): fc.Arbitrary<JsonObject> =>
  fc.tuple(fc.nat(top), fc.nat(top), fc.boolean(), fc.boolean()).map(([a, b, low, high]) => ({
    ...(low ? { [least]: Math.min(a, b) } : {}),
    ...(high ? { [most]: Math.max(a, b) } : {}),
  }));

const edge = fc.oneof(
  fc.integer({ min: -2_000, max: 2_000 }),
  fc.double({ min: -50, max: 50, noNaN: true }).map((each) => Number(each.toFixed(3))),
  fc.constantFrom(0, 1, -1, 9, 10, 99, 100, 0.1, -0.05, 1e-7, 123_456, 99_999_999),
);
const numeric = fc.tuple(
  fc.constantFrom("integer", "number"),
  fc.option(edge),
  fc.option(edge),
  fc.boolean(),
  fc.boolean(),
).map(([type, a, b, openLow, openHigh]): JsonObject => {
  const [low, high] = a !== null && b !== null && a > b ? [b, a] : [a, b];
  return {
    type,
    ...(low === null ? {} : { [openLow ? "exclusiveMinimum" : "minimum"]: low }),
    ...(high === null ? {} : { [openHigh ? "exclusiveMaximum" : "maximum"]: high }),
  };
});
const multiple = fc.tuple(fc.constantFrom(1, 2, 5, 10, 7), fc.integer({ min: -40, max: 40 }))
  .map(([multipleOf, minimum]): JsonObject => ({
    type: "integer",
    multipleOf,
    minimum,
    maximum: minimum + 60,
  }));
const listed = fc.uniqueArray(
  fc.oneof(
    fc.constantFrom<Json>("x", "xy", "x\u0001\n", "😀", "", 'a"\\', 1, -0.5, null, true),
    fc.string({ maxLength: 3, unit: "grapheme" }).map((each) => each.toWellFormed()),
    fc.constant<Json>({ k: [1] }),
  ),
  { minLength: 1, maxLength: 6, selector: (each) => JSON.stringify(each) },
).map((values): JsonObject => ({ enum: values }));

/** Schemas of the subset that the gate accepts. */
export const { schema: anySchema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    bounds("minLength", "maxLength", 200).map((each): JsonObject => ({ type: "string", ...each })),
    numeric,
    multiple,
    listed,
    fc.constantFrom<JsonObject>(
      { type: "boolean" },
      { type: "null" },
      { type: ["string", "null"], maxLength: 5 },
      { const: 5 },
      {},
    ),
    fc.tuple(tie("schema"), bounds("minItems", "maxItems", 5))
      .map(([items, limits]): JsonObject => ({ type: "array", items, ...limits })),
    fc.tuple(
      fc.uniqueArray(fc.tuple(name, tie("schema")), { selector: ([each]) => each, maxLength: 4 }),
      fc.subarray([...NAMES], { maxLength: 3 }),
      fc.constantFrom(undefined, false, true),
    ).map(([members, must, additionalProperties]): JsonObject => ({
      type: "object",
      properties: Object.fromEntries(members),
      required: must.filter((each) => members.some(([known]) => known === each)),
      ...(additionalProperties === undefined ? {} : { additionalProperties }),
    })),
    fc.tuple(
      fc.constantFrom("anyOf", "oneOf", "allOf"),
      fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
    ).map(([keyword, each]): JsonObject => ({ [keyword]: each })),
    fc.tuple(tie("schema"), tie("schema")).map(([one, other]): JsonObject => ({
      ...one,
      anyOf: [other, one, { type: "boolean" }],
    })),
  ),
}));

const pick = <T>(from: readonly T[], random: () => number): T | undefined =>
  from[Math.floor(random() * from.length)];

/** A value that often fits: keys in the schema's order, numbers with few digits. */
export function valueOf(schema: Json | undefined, random: () => number): Json {
  const has = typeof schema === "object" && schema !== null && !Array.isArray(schema)
    ? schema as JsonObject
    : {};
  const listOf = (key: string): readonly Json[] => has[key] as readonly Json[] | undefined ?? [];
  const choice = pick([...listOf("anyOf"), ...listOf("oneOf"), ...listOf("allOf")], random);
  if (choice !== undefined && random() < 0.9) return valueOf(choice, random);
  if (has["enum"] !== undefined) return pick(listOf("enum"), random) ?? null;
  if (has["const"] !== undefined) return has["const"];
  const types = has["type"] === undefined ? ["boolean", "string"] : [has["type"]].flat();
  const number = (key: string, other: number): number => {
    const value = has[key];
    return typeof value === "number" ? value : other;
  };
  switch (pick(types, random)) {
    case "null":
      return null;
    case "boolean":
      return random() < 0.5;
    case "integer":
    case "number": {
      const low = number("minimum", number("exclusiveMinimum", -1_000));
      const high = number("maximum", number("exclusiveMaximum", low + 2_000));
      const at = pick([low, high, low + random() * (high - low)], random) ?? 0;
      const step = number("multipleOf", 1);
      const whole = has["type"] === "integer" || random() < 0.3;
      return whole ? Math.round(at / step) * step : Number(at.toFixed(3));
    }
    case "string": {
      const least = number("minLength", 0);
      const length = least + Math.floor(random() * (Math.min(number("maxLength", 20), 80) - least));
      const unit = (): string =>
        pick(["a", '"', "\\", "\n", "\u0007", "é", "😀", "/"], random) ?? "";
      return Array.from({ length }, unit).join("");
    }
    case "array": {
      const least = number("minItems", 0);
      const length = least + Math.floor(random() * (number("maxItems", 6) - least + 1));
      return Array.from({ length }, () => valueOf(has["items"], random));
    }
    case "object": {
      const must = listOf("required");
      return Object.fromEntries(
        Object.entries((has["properties"] ?? {}) as JsonObject)
          .filter(([key]) => must.includes(key) || random() < 0.5)
          .map(([key, each]) => [key, valueOf(each, random)]),
      );
    }
  }
  return null;
}
