import assert from "node:assert/strict";
import fc from "fast-check";
import type { Dialect } from "../../../contracts/model_config.ts";
import { makeDialect, type Out } from "./mod.ts";

const ALL: readonly Dialect[] = ["hermes", "fenced", "think"];
const TOOLS: ReadonlySet<string> = new Set(["clock", "file_read"]);

/** Neighbours of one kind made one. */
function joined(outs: readonly Out[]): readonly Out[] {
  const all: Out[] = [];
  for (const out of outs) {
    const last = all.at(-1);
    if ("text" in out && last !== undefined && "text" in last) {
      all[all.length - 1] = { text: last.text + out.text };
    } else if ("rationale" in out && last !== undefined && "rationale" in last) {
      all[all.length - 1] = { rationale: last.rationale + out.rationale };
    } else all.push(out);
  }
  return all;
}

function run(pieces: readonly string[], names: readonly Dialect[] = ALL): readonly Out[] {
  const dialect = makeDialect(names, TOOLS);
  return joined([...pieces.flatMap((piece) => dialect.text(piece)), ...dialect.end()]);
}

const clock = (zone: string): Out => ({
  call: { name: "clock", arguments: JSON.stringify({ zone }) },
});
const hermes = (zone: string): string =>
  `<tool_call>\n{"name": "clock", "arguments": {"zone": "${zone}"}}\n</tool_call>`;

const CASES: readonly (readonly [claim: string, text: string, outs: readonly Out[]])[] = [
  ["a call amid text", `Wait.\n${hermes("UTC")} Now.`, [
    { text: "Wait.\n" },
    clock("UTC"),
    { text: " Now." },
  ]],
  ["several calls", `${hermes("a")}\n${hermes("b")}`, [clock("a"), { text: "\n" }, clock("b")]],
  ["a closing tag within a string", hermes("</tool_call>"), [clock("</tool_call>")]],
  ["a call without arguments", '<tool_call>{"name":"x"}</tool_call>', [
    { call: { name: "x", arguments: "{}" } },
  ]],
  ...["parameters", "args"].map((word) =>
    [
      `a call that names its arguments "${word}"`,
      `<tool_call>{"name":"clock","${word}":{"zone":"UTC"}}</tool_call>`,
      [clock("UTC")],
    ] as const
  ),
  [
    "arguments that are text stay as they are",
    '<tool_call>{"name":"x","arguments":"{not"}</tool_call>',
    [
      { call: { name: "x", arguments: "{not" } },
    ],
  ],
  ["a name that is not advertised is the gate's", '<tool_call>{"name":"rm"}</tool_call>', [
    { call: { name: "rm", arguments: "{}" } },
  ]],
  ["a malformed call is text", "<tool_call>{name: clock}</tool_call>", [
    { text: "<tool_call>{name: clock}</tool_call>" },
  ]],
  ["a call without a name is text", '<tool_call>{"a":1}</tool_call>!', [
    { text: '<tool_call>{"a":1}</tool_call>!' },
  ]],
  ["words behind the tag are text", "<tool_call> is a tag", [{ text: "<tool_call> is a tag" }]],
  ["a good call within a bad one", `<tool_call>{ ${hermes("a")}`, [
    { text: "<tool_call>{ " },
    clock("a"),
  ]],
  ["a whole object that nothing closes", hermes("a").replace("</tool_call>", ""), [clock("a")]],
  ["half an object is text", '<tool_call>{"name":"clo', [{ text: '<tool_call>{"name":"clo' }]],
  ["half a tag is text", "a <tool_ca", [{ text: "a <tool_ca" }]],
  ["a good call within an open one", `<tool_call>{"a": "x ${hermes("a").replaceAll('"', "'")}`, [
    { text: `<tool_call>{"a": "x ${hermes("a").replaceAll('"', "'")}` },
  ]],
  ["a thought", "<think>\nHm.\n</think>\n\nYes.", [{ rationale: "\nHm.\n" }, { text: "\n\nYes." }]],
  ["an open thought stays one", "<think>Hm. <tool_call>{", [{ rationale: "Hm. <tool_call>{" }]],
  ["a call in a thought is a thought", `<think>${hermes("a")}</think>`, [
    { rationale: hermes("a") },
  ]],
  ["the first closing tag closes", "<think>a<think>b</think>c</think>d", [
    { rationale: "a<think>b" },
    { text: "c</think>d" },
  ]],
  [
    "a fenced call",
    'I call:\n```json\n{"tool": "clock",\n "args": {"zone": "UTC"}}\n```\nDone.',
    [
      { text: "I call:\n" },
      clock("UTC"),
      { text: "\nDone." },
    ],
  ],
  [
    "a fence of its own kind",
    '```tool_call\n{"name":"clock","parameters":{"zone":"UTC"}}\n```',
    [clock("UTC")],
  ],
  ["a fence that nothing closes", '```json\n{"name":"clock","arguments":{"zone":"UTC"}}', [
    clock("UTC"),
  ]],
  ["a fenced tool that is not advertised is text", '```json\n{"name":"rm","args":{}}\n```', [
    { text: '```json\n{"name":"rm","args":{}}\n```' },
  ]],
  ["fenced JSON with more in it is text", '```json\n{"name":"clock","args":{},"id":1}\n```', [
    { text: '```json\n{"name":"clock","args":{},"id":1}\n```' },
  ]],
  ["a fence amid a line is text", 'a ```json\n{"name":"clock","args":{}}\n```', [
    { text: 'a ```json\n{"name":"clock","args":{}}\n```' },
  ]],
  ["a fence of a list is text", "```json\n[1]\n```\n", [{ text: "```json\n[1]\n```\n" }]],
  ["an empty fence is text", "```json\n```\nx", [{ text: "```json\n```\nx" }]],
  [
    "the last of two opening lines counts",
    '```json\n```json\n{"name":"clock","args":{"zone":"UTC"}}\n```',
    [
      { text: "```json\n" },
      clock("UTC"),
    ],
  ],
  [
    "lines of Windows",
    '```json\r\n{"name":"clock","args":{"zone":"UTC"}}\r\n```\r\n',
    [clock("UTC"), { text: "\n" }],
  ],
  ["__proto__ is a key", '<tool_call>{"name":"x","arguments":{"__proto__":1}}</tool_call>', [
    { call: { name: "x", arguments: '{"__proto__":1}' } },
  ]],
];

for (const [claim, text, outs] of CASES) {
  Deno.test(`alice's model writes: ${claim}, in one piece and in single characters`, () => {
    assert.deepEqual(run([text]), outs);
    assert.deepEqual(run([...text]), outs);
  });
}

Deno.test("a dialect that is not named is text", () => {
  const text = `<think>a</think>${hermes("a")}\n\`\`\`json\n{"name":"clock","args":{}}\n\`\`\``;
  assert.deepEqual(run([text], []), [{ text }]);
  assert.deepEqual(run([...text], []), [{ text }]);
  assert.deepEqual(run([text], ["think"]), [
    { rationale: "a" },
    { text: text.slice("<think>a</think>".length) },
  ]);
});

Deno.test("a thought that the template began ends at its tag; without one the text is the answer after all", () => {
  const both = ["thinking", "think", "hermes"] as const;
  for (
    const [text, outs] of [
      ["I look.</think>\n\nMonday.", [{ rationale: "I look." }, { text: "\n\nMonday." }]],
      [`Hm.</think>${hermes("UTC")}`, [{ rationale: "Hm." }, clock("UTC")]],
      ["</think>Monday.", [{ text: "Monday." }]],
      ["A </thin B", [{ rationale: "A </thin B" }, { text: "A </thin B" }]],
      ["a</think>b<think>c</think>d</think>", [
        ...[{ rationale: "a" }, { text: "b" }, { rationale: "c" }, { text: "d</think>" }],
      ]],
      ["", []],
    ] as const
  ) {
    for (const pieces of [[text], [...text]]) assert.deepEqual(run(pieces, both), outs, text);
  }
  assert.deepEqual(run(["a</think>b<think>"], ["thinking"]), [
    { rationale: "a" },
    { text: "b<think>" },
  ]);
});

Deno.test("text before a tag is given on at once, and only a tag's beginning is held back", () => {
  const dialect = makeDialect(["hermes"], TOOLS);
  assert.deepEqual(dialect.text("Hello <b"), [{ text: "Hello <b" }]);
  assert.deepEqual(dialect.text(" and <tool"), [{ text: " and " }]);
  assert.deepEqual(dialect.text("s>"), [{ text: "<tools>" }]);
  assert.deepEqual(dialect.end(), []);
});

/** Fragments of which hostile texts are made. */
const fragment = fc.oneof(
  fc.constantFrom(
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
    "```json\n",
    "```tool_call\n",
    "\n```\n",
    "\n```",
    "```",
    '{"name":"clock","arguments":{}}',
    '{"name":"clock","args":{"a":"</tool_call>"}}',
    "{",
    "}",
    '"',
    "\\",
    "<",
    "\n",
    "\r\n",
    "   ",
    " ",
    ":",
  ),
  fc.string({ maxLength: 6 }),
);
const hostile = fc.array(fragment, { maxLength: 24 }).map((parts) => parts.join(""));

/** Cuts `text` at places that depend on `cuts`. */
function cut(text: string, cuts: readonly number[]): readonly string[] {
  const places = cuts.map((at) => at % (text.length + 1)).toSorted((a, b) => a - b);
  return [0, ...places].map((from, index) => text.slice(from, places[index]));
}

Deno.test("any chunking of a text gives the same calls, thoughts and text", () => {
  const names = fc.subarray([...ALL]);
  fc.assert(
    fc.property(hostile, fc.array(fc.nat(), { maxLength: 12 }), names, (text, cuts, known) => {
      const whole = run([text], known);
      assert.deepEqual(run(cut(text, cuts), known), whole);
      assert.deepEqual(run(text.split(""), known), whole);
    }),
    { numRuns: 3_000 },
  );
});

Deno.test("text without tags passes unit for unit", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(fc.nat(), { maxLength: 8 }),
      (raw, cuts) => {
        const text = raw.replaceAll(/<|```/g, "");
        assert.deepEqual(run(cut(text, cuts)), text === "" ? [] : [{ text }]);
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("nothing of a text is lost: what is no call and no tag comes out", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      if (/"(arguments|args)"/.test(text)) return;
      const outs = run([text], ["hermes", "fenced"]);
      assert.deepEqual(outs, text === "" ? [] : [{ text }]);
    }),
    { numRuns: 1_000 },
  );
});

/** Reads `text` in pieces of `size` and counts the characters that come out. */
function length(text: string, size: number): number {
  const dialect = makeDialect(ALL, TOOLS);
  let sum = 0;
  const count = (outs: readonly Out[]): void => {
    for (const out of outs) sum += "text" in out ? out.text.length : 0;
  };
  for (let at = 0; at < text.length; at += size) count(dialect.text(text.slice(at, at + size)));
  count(dialect.end());
  return sum;
}

const FLOODS: readonly (readonly [string, string])[] = [
  ["openers", "<tool_call>"],
  ["objects that never end", "<tool_call>{"],
  ["strings that never end", '<tool_call>{"'],
  ["strings that end in the next", '<tool_call>{"a":"'],
  ["escapes", '<tool_call>{"\\"'],
  ["fences in fences", "```json\n{\n"],
  ["fences without anything", "```json\n"],
  ["ticks", "\n``"],
  ["blanks in a fence", "```json\n \n \n \n \n \n \n"],
  ["less-than signs", "<<"],
];

for (const [what, unit] of FLOODS) {
  Deno.test(`mallory's flood of ${what} costs linear time and comes out as text`, () => {
    const text = unit.repeat(Math.ceil(600_000 / unit.length));
    // A quadratic reader needs hours for this: the test would never end.
    for (const size of [4, text.length]) assert.equal(length(text, size), text.length);
  });
}

Deno.test("mallory's deep nesting in a call overflows no stack", () => {
  const deep = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  const whole = `<tool_call>{"name":"x","arguments":${deep}}</tool_call>`;
  // Whether this is a call or text is the JSON reader's; how deep a call may be is the gate's.
  const outs = run([whole]);
  assert.equal(outs.length, 1);
  assert.ok(JSON.stringify(outs).length > 400_000);
});
