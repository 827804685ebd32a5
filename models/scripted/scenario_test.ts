import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { parseScenario } from "./scenario.ts";

const REFUSED: readonly (readonly [string, string, string])[] = [
  [
    "an unknown key",
    "scenario: x\nturns:\n  - say: a\n    sya: b",
    '4:5: unknown key "sya" in turns[1]',
  ],
  [
    "an unknown key at the top",
    "turn: 1\nscenario: x\nturns: [{ say: a }]",
    '1:1: unknown key "turn" in the scenario',
  ],
  [
    "an unknown key in a condition",
    "scenario: x\nturns:\n  - when: { result: { tol: a } }\n    say: a",
    '3:23: unknown key "tol" in turns[1].when.result',
  ],
  [
    "an unknown key in a text condition",
    "scenario: x\nturns:\n  - when:\n      user:\n        contain: a\n    say: a",
    '5:9: unknown key "contain" in turns[1].when.user',
  ],
  ["no turns", "scenario: x\n", '1:1: missing key "turns" in the scenario'],
  [
    "no tool",
    "scenario: x\nturns:\n  - calls:\n      - args: {}",
    '4:9: missing key "tool" in turns[1].calls[1]',
  ],
  ["an empty list of turns", "scenario: x\nturns: []", "2:8: turns: Too small"],
  [
    "a wrong type",
    "scenario: x\nturns:\n  - say: [a]",
    "3:10: turns[1].say: Invalid input: expected string",
  ],
  [
    "an outcome that there is not",
    "scenario: x\nturns:\n  - when: { result: { outcome: fine } }\n    say: a",
    "3:32: ",
  ],
  [
    "an unknown fault",
    "scenario: x\nturns:\n  - error: { code: boom, message: b }",
    "3:20: turns[1].error.code: ",
  ],
  ["a turn that does nothing", "scenario: x\nturns:\n  - name: idle", "3:5: a turn does something"],
  ["an empty condition", "scenario: x\nturns:\n  - say: a\n    when: {}", "4:11: give a condition"],
  [
    "args and raw at once",
    'scenario: x\nturns:\n  - calls: [{ tool: t, args: {}, raw: "{" }]',
    "3:13: give `args` or `raw`, not both",
  ],
  [
    "loop with a condition",
    "scenario: x\nturns:\n  - { say: a, loop: true, when: { step: 1 } }",
    "3:5: give `loop` or `when`",
  ],
  ["a key twice", "scenario: x\nscenario: y\nturns: [{ say: a }]", "2:1: Map keys must be unique"],
  ["broken YAML", "scenario: x\nturns: [{ say: a }", "2:19: "],
  ["an alias of nothing", "scenario: x\nturns: [*a]", '2:9: no anchor "a" before it'],
  ["two documents", "scenario: x\nturns: [{ say: a }]\n---\nb: 1", "3:1: "],
  ["a tag that it does not know", "scenario: !!js x\nturns: [{ say: a }]", "1:11: Unresolved tag"],
  ["nothing", "", "1:1: "],
  ["a list", "- a", "1:1: "],
  [
    "a bad template",
    "scenario: x\nturns:\n  - say: a\n  - say: 'b {{ tool.t | lime 1 }}'",
    '4:10: a template has no step "lime"',
  ],
  [
    "a bad template deep in arguments",
    "scenario: x\nturns:\n  - calls:\n      - tool: t\n        args: { a: [1, '{{ tool }}'] }",
    '5:24: "tool" quotes nothing',
  ],
  [
    "an open template in raw text",
    "scenario: x\nturns:\n  - calls: [{ tool: t, raw: '{\"a\": {{ user' }]",
    '3:29: a template that begins with "{{" has no "}}"',
  ],
  [
    "own prototype keys",
    "scenario: x\n__proto__: { a: 1 }\nturns: [{ say: a }]",
    '2:1: unknown key "__proto__"',
  ],
];

for (const [what, text, expected] of REFUSED) {
  Deno.test(`a scenario with ${what} is refused at ${expected}`, () => {
    assert.throws(() => parseScenario(text, "demo.yaml"), (error) => {
      assert.ok(error instanceof Fault);
      assert.equal(error.code, "invalidInput");
      const start = `Cannot read scenario: demo.yaml:${expected}`;
      assert.equal(error.message.slice(0, start.length), start);
      assert.equal(error.detail?.["line"], Number(expected.split(":")[0]));
      return true;
    });
  });
}

Deno.test("a hostile file is refused, not a crash: deep nesting, an alias bomb, a huge text", () => {
  const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 9; i++) {
    const before = `*${String.fromCharCode(96 + i)}`;
    const name = String.fromCharCode(97 + i);
    bomb.push(`${name}: &${name} [${Array(10).fill(before).join(", ")}]`);
  }
  for (const text of ["[".repeat(100_000), bomb.join("\n"), "x".repeat(1_000_001)]) {
    assert.throws(() => parseScenario(text, "f"), (error) => {
      assert.ok(error instanceof Fault, String(error));
      return error.code === "invalidInput";
    });
  }
});

Deno.test("a scenario with every key is read", () => {
  const scenario = parseScenario(
    `
scenario: all
model: { displayName: m, contextTokens: 10, outputTokens: 5, remote: true, supportsTools: false, price: { input: 1, output: 2.5 } }
stream: { chunkChars: 1, delayMs: 2, firstMs: 3 }
turns:
  - name: n
    when:
      always: true
      user: { contains: [a, b], equals: c, startsWith: d, lacks: e }
      system: s
      result: { tool: t, outcome: [ok, timedOut], text: x }
      message: 1
      step: { from: 2 }
      inference: { from: 1, to: 3 }
      offered: [t]
      notOffered: [u]
    say: s
    rationale: r
    calls: [{ tool: t, args: { a: [1, null, { b: true }] }, id: c1 }, { tool: u, raw: "{" }]
    error: { code: upstream, message: m, times: 2 }
    usage: { inputTokens: 1, outputTokens: 2 }
    finish: length
    stream: { delayMs: 0 }
  - { say: on, loop: true }
  - { hang: true }
`,
    "all.yaml",
  );
  assert.equal(scenario.turns.length, 3);
  assert.deepEqual(scenario.turns[0]?.calls?.[0]?.args, { a: [1, null, { b: true }] });
});

Deno.test("anchors are followed, and an error behind one names the place of the anchor", () => {
  const text = "scenario: x\nturns:\n  - calls: [&c { tool: t }]\n  - calls: [*c]";
  assert.equal(parseScenario(text, "f").turns[1]?.calls?.[0]?.tool, "t");
  const wrong = "scenario: x\nturns:\n  - calls: [&c { tol: t }]\n  - calls: [*c]";
  assert.throws(() => parseScenario(wrong, "f"), /f:3:/);
});
