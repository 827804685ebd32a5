import assert from "node:assert/strict";
import { Fault } from "../../base/mod.ts";
import type { Json } from "../../base/mod.ts";
import { Ajv } from "ajv";
import { IntakeV2, templateOf, TEMPLATES, valueIn } from "./templates.ts";

Deno.test("each template takes its example, and its JSON Schema says the same", () => {
  for (const template of TEMPLATES.values()) {
    assert.equal(template.misfit(template.example), undefined, template.name);
    const check = new Ajv({ strict: false }).compile(JSON.parse(template.schema));
    assert.equal(check(template.example), true, template.name);
    const more = { ...Object(template.example), more: 1 };
    assert.match(template.misfit(more) ?? "", /more/, template.name);
    assert.equal(check(more), false, template.name);
    assert.ok(template.schema.length < 8_192, template.name);
  }
});

/** Of each template something that looks right and is not. */
const WRONG: Readonly<Record<string, readonly [Json, RegExp]>> = {
  intake: [{
    ...Object(TEMPLATES.get("intake")?.example),
    tools: [{ tool: "rm -rf /", atMost: 1 }],
  }, /tools\.0\.tool/],
  plan: [{
    subtasks: [{ id: "a", does: "A", after: ["b"], gate: "g", rollback: "r" }],
  }, /"a" comes after "b"/],
  call_review: [{ why: " ", authority: "a", without: "w" }, /why/],
  code_review: [{
    behaviour: [],
    security: [{ where: "a:1", what: "w", grave: "high" }],
    tests: { hold: [], missing: [] },
    doubt: [],
    verdict: "accept",
  }, /"accept" with a finding that is "high"/],
  handoff: [
    { artifacts: [], verification: [{ check: "c", held: "yes" }], risks: [], memory: [] },
    /held/,
  ],
};

Deno.test("a value that looks right and is not is refused, with its place", () => {
  assert.deepEqual(Object.keys(WRONG).sort(), [...TEMPLATES.keys()].sort());
  for (const [name, [value, why]] of Object.entries(WRONG)) {
    assert.match(templateOf(name).misfit(value) ?? "", why, name);
  }
});

Deno.test("a template is found by its name and by its version, and by no other", () => {
  assert.equal(templateOf("plan@1"), templateOf("plan"));
  assert.throws(
    () => templateOf("plan@2"),
    (error) =>
      error instanceof Fault && error.code === "notFound" && /intake@2, plan@1/.test(error.message),
  );
  assert.throws(() => templateOf("__proto__"), Fault);
});

Deno.test("the value of an answer is its JSON, alone or in one block of code", () => {
  assert.deepEqual(valueIn('```json\n{"a":1}\n```'), { a: 1 });
  assert.deepEqual(valueIn(" [1] "), [1]);
  assert.equal(valueIn('Here: {"a":1}'), undefined);
});

Deno.test("an intake is bounded in everything", () => {
  const one = IntakeV2.parse(templateOf("intake").example);
  assert.equal(IntakeV2.safeParse({ ...one, objective: "x".repeat(501) }).success, false);
  const many = Array.from({ length: 65 }, () => ({ tool: "file_read", atMost: 1 }));
  assert.equal(IntakeV2.safeParse({ ...one, tools: many }).success, false);
  assert.equal(
    IntakeV2.safeParse({ ...one, tools: [{ tool: "file_read", atMost: 0 }] }).success,
    false,
  );
});
