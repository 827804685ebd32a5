import assert from "node:assert/strict";
import fc from "fast-check";
import type { Dialect } from "../../../contracts/model/model_config.ts";
import { makeDialect, type Out } from "./mod.ts";

const ALL: readonly Dialect[] = ["hermes", "fenced", "think"];
const TOOLS: ReadonlySet<string> = new Set(["clock", "file_read"]);

/** What came out: of a call that cannot be read, what the model wrote. */
type Plain = Exclude<Out, { readonly call: unknown }> | {
  readonly call: { readonly name: string; readonly arguments: string };
} | { readonly wrong: string };

function plain(out: Out): Plain {
  if (!("call" in out)) return out;
  const { name, arguments: args, wrong } = out.call;
  return wrong === undefined ? { call: { name, arguments: args } } : { wrong: args };
}

/** Neighbours of one kind made one. */
function joined(outs: readonly Out[]): readonly Plain[] {
  const all: Plain[] = [];
  for (const out of outs.map(plain)) {
    const last = all.at(-1);
    if ("text" in out && last !== undefined && "text" in last) {
      all[all.length - 1] = { text: last.text + out.text };
    } else if ("rationale" in out && last !== undefined && "rationale" in last) {
      all[all.length - 1] = { rationale: last.rationale + out.rationale };
    } else all.push(out);
  }
  return all;
}

function run(pieces: readonly string[], names: readonly Dialect[] = ALL): readonly Plain[] {
  const dialect = makeDialect(names, TOOLS);
  return joined([...pieces.flatMap((piece) => dialect.text(piece)), ...dialect.end()]);
}

const clock = (zone: string): Plain => ({
  call: { name: "clock", arguments: JSON.stringify({ zone }) },
});
const hermes = (zone: string): string =>
  `<tool_call>\n{"name": "clock", "arguments": {"zone": "${zone}"}}\n</tool_call>`;

const CASES: readonly (readonly [claim: string, text: string, outs: readonly Plain[]])[] = [
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
  ["a malformed call is told as one", "<tool_call>{name: clock}</tool_call>", [
    { wrong: "{name: clock}" },
  ]],
  ["a call without a name is told as one", '<tool_call>{"a":1}</tool_call>!', [
    { wrong: '{"a":1}' },
    { text: "!" },
  ]],
  ...[
    ["a comma too many", '{"name": "clock", "arguments": {"zone": "UTC",},}'],
    ["single quotes", "{'name': 'clock', 'arguments': {'zone': 'UTC'}}"],
    ["a word of Python", '{"name": "clock", "arguments": {"zone": True}}'],
    ["a missing brace", '{"name": "clock", "arguments": {"zone": "UTC"}'],
    ["a brace too many", '{{"name": "clock", "arguments": {"zone": "UTC"}}}'],
    ["a line's end within a text", '{"name": "clock", "arguments": {"zone": "U\nC"}}'],
    ["arguments under another word", '{"name": "clock", "input": {"zone": "UTC"}}'],
  ].map(([what = "", body = ""]) =>
    [`${what} makes no call, and is told`, `<tool_call>\n${body}\n</tool_call>`, [
      { wrong: body },
    ]] as const
  ),
  ["a list of calls", '<tool_call>[{"name":"clock","arguments":{"zone":"UTC"}}]</tool_call>', [
    clock("UTC"),
  ]],
  [
    "two objects in one tag",
    hermes("a").replace("</tool_call>", hermes("b").slice("<tool_call>".length)),
    [clock("a"), clock("b")],
  ],
  [
    "a fence within the tag",
    '<tool_call>\n```json\n{"name":"clock","arguments":{"zone":"UTC"}}\n```\n</tool_call>',
    [clock("UTC")],
  ],
  [
    "a call in inline code is an example",
    `One writes \`${hermes("a").replaceAll("\n", "")}\`. Yes.`,
    [
      { text: `One writes \`${hermes("a").replaceAll("\n", "")}\`. Yes.` },
    ],
  ],
  ["a call in a foreign fence is an example", `So:\n\`\`\`xml\n${hermes("a")}\n\`\`\`\nNot now.`, [
    { text: `So:\n\`\`\`xml\n${hermes("a")}\n\`\`\`\nNot now.` },
  ]],
  ["a call after a fence is one", `\`\`\`\nx\n\`\`\`\n${hermes("a")}`, [
    { text: "```\nx\n```\n" },
    clock("a"),
  ]],
  ["a call after a stray tick on another line is one", `It\`s so:\n${hermes("a")}`, [
    { text: "It`s so:\n" },
    clock("a"),
  ]],
  ["words behind the tag are text", "<tool_call> is a tag", [{ text: "<tool_call> is a tag" }]],
  ["a good call within a bad one", `<tool_call>{ ${hermes("a")}`, [
    { text: "<tool_call>{ " },
    clock("a"),
  ]],
  ["a whole object that nothing closes", hermes("a").replace("</tool_call>", ""), [clock("a")]],
  ["half an object is told", '<tool_call>{"name":"clo', [{ wrong: '{"name":"clo' }]],
  ["half a tag is text", "a <tool_ca", [{ text: "a <tool_ca" }]],
  ["a good call within an open one", `<tool_call>{"a": "x ${hermes("a").replaceAll('"', "'")}`, [
    { wrong: `{"a": "x ${hermes("a").replaceAll('"', "'")}`.replace("</tool_call>", "").trim() },
  ]],
  ["a thought", "<think>\nHm.\n</think>\n\nYes.", [{ rationale: "\nHm.\n" }, { text: "\n\nYes." }]],
  ["an open thought stays one", "<think>Hm. <tool_call> is a tag", [
    { rationale: "Hm. <tool_call> is a tag" },
  ]],
  ["a call with which an open thought ends is made", `<think>Hm.${hermes("a")}\n`, [
    { rationale: `Hm.${hermes("a")}\n` },
    clock("a"),
  ]],
  ["a call that an open thought only speaks of is none", `<think>Is ${hermes("a")} right?`, [
    { rationale: `Is ${hermes("a")} right?` },
  ]],
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
    [clock("UTC"), { text: "\r\n" }],
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
      [`Hm.${hermes("UTC")}`, [
        { rationale: `Hm.${hermes("UTC")}` },
        { text: "Hm." },
        clock("UTC"),
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
      // A name alone between the tags is a call without arguments.
      if (outs.some((out) => "call" in out)) return;
      const kept = outs.map((out) => "text" in out ? out.text : "wrong" in out ? out.wrong : "");
      const bare = (each: string): string => each.replaceAll(/<\/?tool_call>|```\w*|\s/g, "");
      assert.equal(bare(kept.join("")), bare(text));
    }),
    { numRuns: 1_000 },
  );
});

/** Reads `text` in pieces of `size` and counts the characters that come out. */
function length(text: string, size: number): number {
  const dialect = makeDialect(ALL, TOOLS);
  let sum = 0;
  const count = (outs: readonly Out[]): void => {
    for (const out of outs) {
      if ("text" in out) sum += out.text.length;
      else if ("call" in out) sum += out.call.arguments.length;
    }
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
  Deno.test(`mallory's flood of ${what} costs linear time, and nothing of it is lost`, () => {
    const text = unit.repeat(Math.ceil(600_000 / unit.length));
    // A quadratic reader needs hours for this: the test would never end.
    for (const size of [4, text.length]) {
      const kept = length(text, size);
      assert.ok(kept > 0 && kept <= text.length, `${kept}`);
      assert.equal(kept, length(text, 7));
    }
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

/** What each family's published chat template writes for a call of `clock` with `zone` "UTC". */
const FAMILIES: readonly (readonly [family: string, text: string])[] = [
  ["Hermes, Qwen 2.5 and 3", hermes("UTC")],
  [
    "Qwen 3 Coder",
    "<tool_call>\n<function=clock>\n<parameter=zone>\nUTC\n</parameter>\n</function>\n</tool_call>",
  ],
  [
    "Qwen 3 Coder, without its tag",
    "<function=clock>\n<parameter=zone>\nUTC\n</parameter>\n</function>",
  ],
  [
    "GLM 4.5",
    "<tool_call>clock\n<arg_key>zone</arg_key>\n<arg_value>UTC</arg_value>\n</tool_call>",
  ],
  ["GLM 4.7", "<tool_call>clock<arg_key>zone</arg_key><arg_value>UTC</arg_value></tool_call>"],
  ["Llama 3.1", '<|python_tag|>{"name": "clock", "parameters": {"zone": "UTC"}}<|eom_id|>'],
  ["Llama 3.1, a tool of its own", '<|python_tag|>clock.call(zone="UTC")<|eom_id|>'],
  ["Llama 3.1, a custom function", '<function=clock>{"zone": "UTC"}</function>'],
  ["Llama 4", '<|python_start|>[clock(zone="UTC")]<|python_end|>'],
  [
    "Mistral",
    '[TOOL_CALLS][{"name": "clock", "arguments": {"zone": "UTC"}, "id": "abcdefghi"}]</s>',
  ],
  ["Mistral, later", '[TOOL_CALLS]clock[ARGS]{"zone": "UTC"}'],
  ["Mistral, with ids", '[TOOL_CALLS]clock[CALL_ID]abcdefghi[ARGS]{"zone": "UTC"}</s>'],
  [
    "DeepSeek R1 and V3",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>clock\n```json\n" +
    '{"zone": "UTC"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  [
    "DeepSeek V3.1",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>clock<｜tool▁sep｜>{"zone": "UTC"}' +
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
  ],
  [
    "DeepSeek V3.2",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="clock">\n<｜DSML｜parameter name="zone" string="true">UTC' +
    "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
  ],
  [
    "Kimi K2",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.clock:0<|tool_call_argument_begin|>{"zone": "UTC"}' +
    "<|tool_call_end|><|tool_calls_section_end|>",
  ],
  [
    "MiniMax M2",
    '<minimax:tool_call>\n<invoke name="clock">\n<parameter name="zone">UTC</parameter>\n</invoke>\n' +
    "</minimax:tool_call>",
  ],
  ["Phi 4", '<|tool_call|>[{"name": "clock", "arguments": {"zone": "UTC"}}]<|/tool_call|>'],
  ["FunctionGemma", "<start_function_call>call:clock{zone:<escape>UTC<escape>}<end_function_call>"],
  ["Gemma 4", '<|tool_call>call:clock{zone:<|"|>UTC<|"|>}<tool_call|>'],
  [
    "Harmony",
    '<|channel|>commentary to=functions.clock <|constrain|>json<|message|>{"zone": "UTC"}<|call|>',
  ],
  [
    "Harmony, with its start",
    '<|start|>assistant to=functions.clock<|channel|>commentary json<|message|>{"zone": "UTC"}<|call|>',
  ],
  ["Gemma, in a fence", '```tool_code\nprint(default_api.clock(zone="UTC"))\n```'],
  ["Gemma, JSON in a fence", '```json\n{"name": "clock", "parameters": {"zone": "UTC"}}\n```'],
];

for (const [family, text] of FAMILIES) {
  Deno.test(`a call as its family's template writes it is read: ${family}`, () => {
    for (const pieces of [[text], [...text]]) {
      assert.deepEqual(run(pieces, ["hermes", "fenced"]), [clock("UTC")]);
    }
  });
}

Deno.test("what no family's reader can read is a call that is told, never the answer", () => {
  const broken = [
    "<tool_call><function=clock><parameter=zone>UTC</function></tool_call>",
    "<tool_call>clock<arg_key>zone</arg_key></tool_call>",
    '[TOOL_CALLS]clock[ARGS]{"zone": "UTC"',
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>clock{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    '<|channel|>commentary to=functions.clock<|message|>{"zone": UTC}<|call|>',
    "<|python_start|>[clock(UTC)]<|python_end|>",
    "<|tool_call>call:clock{zone:UTC}<tool_call|>",
    '```tool_code\nclock(zone="UTC"\n```',
    '```json\n{"name": "clock", "arguments": {"zone": "UTC"},}\n```',
  ];
  for (const text of broken) {
    const outs = run([text], ["hermes", "fenced"]);
    assert.ok(outs.length === 1 && outs[0] !== undefined && "wrong" in outs[0], text);
  }
});

Deno.test("a bare answer is a call only where it is nothing else, of a tool that is there", () => {
  const bare = (text: string): readonly Plain[] => {
    const whole = run([text], ["bare"]);
    assert.deepEqual(run([...text], ["bare"]), whole);
    return whole;
  };
  assert.deepEqual(bare('{"name": "clock", "parameters": {"zone": "UTC"}}'), [clock("UTC")]);
  assert.deepEqual(bare("[clock(zone='UTC')]"), [clock("UTC")]);
  assert.deepEqual(bare("[clock(zone='a'), clock(zone='b')]"), [clock("a"), clock("b")]);
  for (
    const text of ['{"name": "rm", "parameters": {}}', '{"a": 1}', "[1, 2]", "Use clock(zone=1)"]
  ) {
    assert.deepEqual(bare(text), [{ text }]);
  }
  assert.deepEqual(bare('{"name": "clock", "parameters": {"zone": "UTC"}'), [
    { wrong: '{"name": "clock", "parameters": {"zone": "UTC"}' },
  ]);
});

Deno.test("values of forms without types are texts where the tool's schema says so", () => {
  const text = "<tool_call>clock<arg_key>zone</arg_key><arg_value>12</arg_value>" +
    "<arg_key>count</arg_key><arg_value>12</arg_value></tool_call>";
  const dialect = makeDialect(
    ["hermes"],
    TOOLS,
    (tool, name) => tool === "clock" && name === "zone",
  );
  const [out] = [...dialect.text(text), ...dialect.end()];
  assert.ok(out !== undefined && "call" in out);
  assert.equal(out.call.arguments, '{"zone":"12","count":12}');
});

Deno.test("Harmony's other channels are thoughts and text", () => {
  const text =
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>";
  assert.deepEqual(run([text]), [{ rationale: "Hm." }, { text: "Yes." }]);
});
