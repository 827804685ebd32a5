import assert from "node:assert/strict";
import type { Json } from "../../../../contracts/base/json.ts";
import { formOf } from "./server_requests.ts";

const form = (field: Json, more: object = {}): Json => ({
  type: "object",
  properties: { field },
  ...more,
});

Deno.test("alice's form keeps its fields, their titles, bounds and choices", () => {
  const fields: readonly Json[] = [
    { type: "string", title: "Name", minLength: 1, maxLength: 20, format: "email", default: "a" },
    { type: "integer", minimum: 0, maximum: 9 },
    { type: "boolean", default: true },
    { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] },
    { type: "string", oneOf: [{ const: "a", title: "A" }, { const: "b", title: "B" }] },
    { type: "array", maxItems: 2, items: { type: "string", enum: ["a", "b"] } },
    { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
  ];
  for (const field of fields) {
    assert.deepEqual(formOf(form(field, { required: ["field"] })), {
      ...{ type: "object", properties: { field }, required: ["field"] },
      additionalProperties: false,
    });
  }
});

Deno.test("mallory's pattern is left out, and so is a requirement of what is not there", () => {
  const asked = form({ type: "string", pattern: "^(a+)+$", "x-more": {} }, { required: ["other"] });
  assert.deepEqual(formOf(asked), {
    ...{ type: "object", properties: { field: { type: "string" } }, required: [] },
    additionalProperties: false,
  });
});

Deno.test("mallory's form that is not flat is none", () => {
  const none: readonly (Json | undefined)[] = [
    undefined,
    { type: "string" },
    form({ type: "object", properties: {} }),
    form({ type: "array", items: { type: "object" } }),
    form({ type: "array", items: { type: "string" } }),
    form({ type: "string", default: { a: 1 } }),
    form({ type: "string", oneOf: [{ const: { a: 1 } }] }),
    form({ $ref: "#/$defs/x" }),
    form({ type: "string" }, { required: [5] }),
    {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 65 }, (_, i) => [`f${i}`, { type: "string" }]),
      ),
    },
  ];
  for (const schema of none) assert.equal(formOf(schema), undefined, JSON.stringify(schema));
});
