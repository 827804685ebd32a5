import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import { accepts, draw, type Grammar, readGrammar } from "./_fixture/gbnf_reader.ts";
import { LARGE_SCHEMAS } from "./_fixture/large_schemas.ts";
import { ownTools } from "./_fixture/own_tools.ts";
import { parseToolAnswer, toolGrammar, type ToolGrammarOptions } from "./tool_grammar.ts";
import { compileSchema } from "./compile.ts";
import { makeMisfits } from "../../broker/validators.ts";

const paramSchema =
  '{"type":"object","properties":{"path":{"type":"string","maxLength":9}},"required":["path"]}';
const two = [{ name: "file_read", paramSchema }, { name: "file_write", paramSchema }];
const grammarOf = (options: ToolGrammarOptions): Grammar => readGrammar(toolGrammar(two, options));
const read = '<tool_call>{"name":"file_read","arguments":{"path":"a"}}</tool_call>';
const spaced = '<tool_call>\n{"name": "file_write", "arguments": {"path": "b"}}\n</tool_call>';

/** Short texts, so that sentences are. */
const SHORT: ToolGrammarOptions = { mustCall: true, preamble: false, calls: 3, maxLength: 80 };

/** A small generator: 0 to 1, the same each time. */
function randoms(): () => number {
  let state = 1;
  return () => (state = state * 48_271 % 2_147_483_647) / 2_147_483_647;
}

Deno.test("an answer is text, or calls that fit, perhaps after text", () => {
  const grammar = grammarOf({ calls: 2 });
  for (
    const text of [
      "",
      "Hello.",
      "a < b <tool",
      "<tool_cal",
      read,
      spaced,
      `Now.\n${read}\n${spaced}`,
    ]
  ) {
    assert.ok(accepts(grammar, text), text);
  }
  const others = [
    "<tool_call>",
    `${read}.`,
    `${read}${read}${read}`,
    read.replace("file_read", "file_rm"),
    read.replace('"path"', '"p"'),
    read.replace('"a"', '"0123456789"'),
    read.slice(0, -1),
  ];
  for (const text of others) assert.ok(!accepts(grammar, text), text);
});

Deno.test("a call that must be is there, text that may not come before does not", () => {
  const must = grammarOf({ mustCall: true, preamble: false });
  assert.ok(accepts(must, read) && !accepts(must, "") && !accepts(must, `so ${read}`));
  const first = grammarOf({ preamble: false });
  assert.ok(accepts(first, "words") && accepts(first, read) && !accepts(first, `so ${read}`));
  assert.throws(() => toolGrammar([], { mustCall: true }), /of no tool/);
});

Deno.test("an answer of a schema is JSON of it, or a call", () => {
  const grammar = grammarOf({ answer: { type: "integer", minimum: 1, maximum: 3 } });
  assert.ok(accepts(grammar, "2") && accepts(grammar, read));
  assert.ok(!accepts(grammar, "4") && !accepts(grammar, "two") && !accepts(grammar, ""));
});

Deno.test("what the grammar writes is taken apart into the calls that the gate takes", () => {
  const tools = ownTools();
  const misfits = makeMisfits();
  const random = randoms();
  const grammar = readGrammar(toolGrammar(tools, SHORT));
  const called = new Set<string>();
  for (let n = 0; n < 300; n++) {
    const sentence = draw(grammar, random);
    const { text, calls, cut } = parseToolAnswer(sentence);
    assert.ok(!cut && text === "" && calls.length > 0, sentence);
    for (const { name, arguments: written } of calls) {
      const tool = tools.find((each) => each.name === name);
      assert.ok(tool !== undefined, name);
      assert.equal(misfits(tool.paramSchema, JSON.parse(written)), undefined, sentence);
      called.add(name);
    }
    assert.equal(parseToolAnswer(sentence.slice(0, -3)).cut, true);
  }
  assert.ok(called.size > 15, `${called.size} tools were called`);
});

Deno.test("a marker within an argument is a part of it", () => {
  const args = '{"path":"</tool_call>"}';
  const inner = read.replace('{"path":"a"}', args);
  assert.deepEqual(parseToolAnswer(`So:\n${inner}\n${read}`), {
    text: "So:\n",
    calls: [{ name: "file_read", arguments: args }, {
      name: "file_read",
      arguments: '{"path":"a"}',
    }],
    cut: false,
  });
});

Deno.test("the largest schemas compile, small, and what they write fits or is noted", () => {
  const random = randoms();
  for (const [name, schema] of Object.entries(LARGE_SCHEMAS)) {
    const { grammar, notes } = compileSchema(schema);
    assert.ok(grammar.length < 65_536, `${name}: ${grammar.length} bytes`);
    const rules = readGrammar(compileSchema(schema, { maxLength: 80 }).grammar);
    for (let n = 0; n < 20; n++) JSON.parse(draw(rules, random));
    for (const { path } of notes) assert.match(path, /^\//);
  }
});

const refused: readonly (readonly [string, string, RegExp])[] = [
  ["that refers outside", '{"$ref":"https://example.com/x.json"}', /refers outside the schema/],
  ["that refers to nothing", '{"$ref":"#/$defs/none"}', /leads nowhere/],
  ["that is itself", '{"allOf":[{"$ref":"#"}]}', /refers to itself without end/],
  ["of no type", '{"type":"text"}', /"text" is not a JSON Schema type/],
  [
    "that nothing fits",
    '{"type":"object","required":["a"],"properties":{"a":false}}',
    /no value fits/,
  ],
  [
    "that is endless",
    '{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}',
    /no value fits/,
  ],
  ["that is no JSON", '{"type":', /not taken/],
  ["nested too deep", `${'{"items":'.repeat(200)}{}${"}".repeat(200)}`, /not taken/],
];
for (const [what, schema, why] of refused) {
  Deno.test(`a tool with a schema ${what} is refused by name`, () => {
    assert.throws(
      () => toolGrammar([{ name: "file_read", paramSchema: schema }]),
      (error) =>
        error instanceof Fault && error.code === "invalidInput" && why.test(error.message) &&
        error.message.startsWith('Cannot offer tool "file_read": '),
    );
  });
}

Deno.test("a schema that multiplies itself is refused as too large, or small", () => {
  const defs = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => {
      const next = n === 19 ? { type: "string" } : { $ref: `#/$defs/d${n + 1}` };
      return [`d${n}`, { type: "object", properties: { a: next, b: next, c: next } }];
    }),
  );
  const shared = compileSchema({ $ref: "#/$defs/d0", $defs: defs }).grammar;
  assert.ok(shared.length < 16_384, `${shared.length} bytes`);
  const wide = { enum: Array.from({ length: 15_000 }, (_, n) => `${"x".repeat(n % 90)}${n}`) };
  assert.throws(
    () => compileSchema({ type: "array", items: wide }),
    (error) =>
      error instanceof Fault && (error.code === "tooLarge" || error.code === "invalidInput"),
  );
  const choices = { anyOf: Array.from({ length: 40 }, (_, n) => ({ maxLength: n })) };
  const { notes } = compileSchema({ allOf: [choices, choices, choices] });
  assert.ok(notes.some(({ how }) => how === "widened"));
});

Deno.test("schemas that offer themselves, or multiply without end, are answered in time", () => {
  assert.match(compileSchema({ enum: [1, 2], anyOf: [{ $ref: "#" }] }).grammar, /"1"/);
  compileSchema({ anyOf: [{ $ref: "#" }, { type: "null" }] });
  const level = (n: number): JsonObject => ({
    properties: { a: { $ref: `#/$defs/d${n + 1}` } },
    anyOf: Array.from({ length: 9 }, (_, m) => ({
      properties: { a: { $ref: `#/$defs/d${n + 1}` }, [`b${m}`]: { maximum: m } },
    })),
  });
  const defs = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`d${n}`, level(n)]));
  assert.throws(
    () => compileSchema({ $ref: "#/$defs/d0", $defs: { ...defs, d20: { type: "null" } } }),
    (error) => error instanceof Fault && error.code === "tooLarge",
  );
});

Deno.test("a tool's schema may name parts of itself, and one that names no key takes none", () => {
  const nested = {
    type: "object",
    properties: { tree: { $ref: "#/$defs/tree" } },
    required: ["tree"],
    $defs: { tree: { type: "object", properties: { next: { $ref: "#/$defs/tree" } } } },
  };
  const tools = [
    { name: "grow", paramSchema: JSON.stringify(nested) },
    { name: "stop", paramSchema: '{"type":"object"}' },
  ];
  const grammar = readGrammar(toolGrammar(tools, { mustCall: true }));
  const call = (name: string, args: string): string =>
    `<tool_call>{"name":"${name}","arguments":${args}}</tool_call>`;
  assert.ok(accepts(grammar, call("grow", '{"tree":{"next":{"next":{}}}}')));
  assert.ok(accepts(grammar, call("stop", "{}")));
  assert.ok(!accepts(grammar, call("grow", "{}")) && !accepts(grammar, call("stop", '{"a":1}')));
});
