/** The requirements of strict structured outputs on a JSON Schema. @module */
import { asFields, asList } from "./provider.ts";

/** Why a schema is invalid under `strict: true`; undefined for a valid one. */
export function wrongStrictSchema(
  schema: unknown,
  path: readonly string[] = [],
): string | undefined {
  const fields = asFields(schema);
  if (fields === undefined) return undefined;
  const context = `In context=(${path.map((part) => `'${part}'`).join(", ")})`;
  if (path.length === 0 && fields.type !== "object") {
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${
      String(fields.type)
    }"'.`;
  }
  if (fields.type === "object") {
    if (fields.additionalProperties !== false) {
      return `${context}, 'additionalProperties' is required to be supplied and to be false.`;
    }
    const names = Object.keys(asFields(fields.properties) ?? {});
    const required = asList(fields.required);
    const missing = names.find((name) => !required.includes(name));
    if (missing !== undefined) {
      return `${context}, 'required' is required to be supplied and to be an array including every key in ` +
        `properties. Missing '${missing}'.`;
    }
  }
  const below: readonly (readonly [unknown, readonly string[]])[] = [
    ...Object.entries(asFields(fields.properties) ?? {}).map(([name, value]) =>
      [value, [...path, "properties", name]] as const
    ),
    ...asList(fields.anyOf).map((value, at) => [value, [...path, "anyOf", String(at)]] as const),
    [fields.items, [...path, "items"]],
  ];
  for (const [value, where] of below) {
    const wrong = wrongStrictSchema(value, where);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
