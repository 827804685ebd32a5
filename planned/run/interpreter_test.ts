/** alice's programs run as they read, and mallory's reach nothing but data. */
import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import { parseProgram } from "../parse.ts";
import { runProgram, Stopped } from "./mod.ts";
import type { Mark } from "./values.ts";

interface Ran {
  readonly said: readonly string[];
  readonly marks: readonly Mark[];
  readonly calls: readonly {
    readonly site: number;
    readonly args: JsonObject;
    readonly mark: Mark;
  }[];
}

async function run(
  text: string,
  results: Readonly<Record<string, Json>> = {},
): Promise<Ran> {
  const said: string[] = [],
    marks: Mark[] = [],
    calls: { site: number; args: JsonObject; mark: Mark }[] = [];
  await runProgram(parseProgram(text), {
    call: ({ site, tool, args, mark }) => {
      calls.push({ site, args, mark });
      return Promise.resolve({
        value: results[tool] ?? null,
        mark: { colour: "RED", label: "internal" },
      });
    },
    say: (each, mark) => {
      said.push(each);
      marks.push(mark);
    },
  });
  return { said, marks, calls };
}

const says = async (text: string, results?: Readonly<Record<string, Json>>): Promise<string> =>
  (await run(text, results)).said.join("|");

Deno.test("a program computes as JavaScript would", async () => {
  const cases: readonly (readonly [string, string])[] = [
    ["say(1 + 2 * 3)", "7"],
    ["say(`a${1 + 1}b`)", "a2b"],
    ['say("x" + 1 + true)', "x1true"],
    ["let n = 0; for (let i = 0; i < 4; i++) { if (i === 2) continue; n += i; } say(n)", "4"],
    ["let n = 10; while (true) { n -= 3; if (n < 0) break; } say(n)", "-2"],
    [
      "const [a, ...b] = [1, 2, 3]; const { x, ...y } = { x: 1, z: 2 }; say([a, b, x, y])",
      '[1,[2,3],1,{"z":2}]',
    ],
    [
      "const f = (n) => n < 2 ? n : f2(n - 1) + f2(n - 2); function f2(n) { return n < 2 ? n : f2(n - 1) + f2(n - 2); } say(f(10))",
      "55",
    ],
    [
      'say([3, 1, 2].sort((a, b) => b - a).map((x) => x * 2).filter((x) => x > 2).join("-"))',
      "6-4",
    ],
    ['say(["b", "a"].sort())', '["a","b"]'],
    ["const xs = [1]; const ys = xs; xs.push(2, 3); say([xs, ys])", "[[1,2,3],[1]]"],
    ["const o = { a: { b: [1] } }; o.a.b[1] = 2; o.a.c = 3; say(o)", '{"a":{"b":[1,2],"c":3}}'],
    [
      "const o = {}; for (const w of ['x', 'y', 'x']) { o[w] = (o[w] ?? 0) + 1; } say(o)",
      '{"x":2,"y":1}',
    ],
    ["say([1, 2, 3].reduce((a, b) => a + b, 0))", "6"],
    [
      "const out = []; [1, 2].forEach((x) => { if (x === 1) return; out.push(x); }); say(out)",
      "[2]",
    ],
    ["say(Object.entries({ a: 1 }).map(([k, v]) => k + v))", '["a1"]'],
    ["say(Math.max(...[1, 5, 3]) + Math.min(4, 2))", "7"],
    ['say(JSON.parse("[1,{\\"a\\":null}]")[1].a == null)', "true"],
    ["const o = undefined; say(o?.a.b ?? 'none')", "none"],
    ["say([1, 2, 3, 4].find((x) => x > 2) + [1, 2].findIndex((x) => x === 2))", "4"],
    ["say([[1, 2], [3]].flatMap((x) => x).every((x) => x > 0))", "true"],
    ["say('a-b-c'.split('-').length + 'abc'.indexOf('c') + 'abc'.length)", "8"],
    ["say('a.b.c'.replaceAll('.', '$&'))", "a$&b$&c"],
    ["say(['1', '2'].map(Number).filter(Boolean))", "[1,2]"],
    ["const xs = await Promise.all([1, 2].map(async (x) => await x)); say(xs)", "[1,2]"],
    ["say(typeof 'x' === 'string' && !(1 > 2))", "true"],
    ["say((1.005).toFixed(1))", "1.0"],
  ];
  for (const [text, wanted] of cases) assert.equal(await says(text), wanted, text);
});

Deno.test("data of strangers is data: no name of it reaches what JavaScript adds", async () => {
  const hostile = JSON.parse(
    '{"__proto__":{"admin":true},"constructor":"c","length":7,"toString":"t","valueOf":"v"}',
  );
  const read = 'const r = tools.read({}); const k = "const" + "ructor"; ';
  const cases: readonly (readonly [string, string])[] = [
    [`${read} say(r[k])`, "c"],
    [`${read} say(({})[k] ?? "none")`, "none"],
    [`${read} say(([])[k] ?? "none")`, "none"],
    [`${read} say(("")[k] ?? "none")`, "none"],
    [`${read} say((1)[k] ?? "none")`, "none"],
    [`${read} say(({})["__pro" + "to__"] ?? "none")`, "none"],
    [`${read} say(r.admin ?? "none")`, "none"],
    [
      `${read} const o = {}; o["__proto" + "__"] = { admin: true }; say([o.admin ?? "none", ({}).admin ?? "none"])`,
      '["none","none"]',
    ],
    [
      `${read} const o = Object.fromEntries([["__proto__", { admin: 1 }]]); say(o.admin ?? "none")`,
      "none",
    ],
    [`${read} const o = { ...r }; say([o.admin ?? "none", o.length])`, '["none",7]'],
    // What turns itself into a text in JavaScript stays a record.
    [`${read} say("x" === r)`, "false"],
  ];
  for (const [text, wanted] of cases) {
    assert.equal(await says(text, { read: hostile }), wanted, text);
  }
  assert.equal(({} as Record<string, unknown>)["admin"], undefined);
  for (
    const text of [
      `${read} say("x" + r)`,
      `${read} say(r < 1)`,
      `${read} say(r * 1)`,
      `${read} say(-r)`,
    ]
  ) {
    await assert.rejects(run(text, { read: hostile }), Stopped, text);
  }
});

Deno.test("what the language does not have is refused before anything runs, and said how to write it", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["eval('1')", /no function eval/],
    ["globalThis.Deno", /no globalThis/],
    ["(() => {}).constructor('return 1')()", /a function is no value|only what has a name/],
    ["const f = () => 1; say(f)", /a function is no value/],
    ["class A {}", /no ClassDeclaration/],
    ["const o = { get x() { return 1; } }", /no getters/],
    ["const o = { x() {} }", /no getters, no methods/],
    ["const o = { __proto__: null }", /nothing is called so/],
    ["say(({}).constructor)", /nothing is called so/],
    ["say(this)", /no ThisExpression/],
    ["new Function('x')", /nothing is made with new/],
    ["say(new Date())", /no clock/],
    ["say(Date.now())", /no method now|no Date/],
    ["say(Math.random())", /no method random|no Math/],
    ["import('x')", /no ImportExpression/],
    ["import x from 'y'", /import/],
    ["say(/a+/.test('a'))", /no regular expressions/],
    ["try { f() } catch {}", /no try/],
    ["function* g() {}", /no generators/],
    ["label: for (const x of [1]) { break label; }", /LabeledStatement/],
    ["for (const x in {}) {}", /ForInStatement/],
    ["with ({}) {}", /WithStatement|with/],
    ["let n = 0; [1].map((x) => { n = x; return x; })", /cannot change n/],
    ["const x = 1; x = 2", /x is const/],
    ["tools.mail_send(args)", /write tools\.mail_send\(\{/],
    ["const a = { to: 1 }; tools.mail_send({ ...a })", /named one by one/],
    ["tools[x]({})", /no x|called by its name/],
    ["const t = tools", /no tools/],
    ["say`x`", /no TaggedTemplateExpression/],
    ["var x = 1", /const or let/],
    ["x = 1", /no variable x/],
    ["console.log(1)", /say\(text\)/],
    [`say(${"(".repeat(2_000)}1${")".repeat(2_000)})`, /too deep/],
    [`say(${"!".repeat(30_000)}1)`, /too deep/],
    [`say(${"[".repeat(200)}${"]".repeat(200)})`, /too deep/],
    [`say("${"x".repeat(70_000)}")`, /longer than/],
    ["say(1) say(2)", /Unexpected token/],
  ];
  for (const [text, why] of cases) {
    assert.throws(() => parseProgram(text), (error) => {
      assert.ok(error instanceof Fault && error.code === "invalidInput", `${text}: ${error}`);
      assert.match(error.message, why, text.slice(0, 80));
      return true;
    });
  }
});

Deno.test("a program that never ends, or grows without end, is stopped", async () => {
  for (
    const text of [
      "while (true) {}",
      "for (;;) { const x = 1; }",
      "const f = (n) => f2(n); function f2(n) { return f2(n + 1); } say(f(1))",
      'let s = "x"; while (true) { s = s + s; }',
      "let xs = [1]; while (true) { xs = [...xs, ...xs]; }",
      "let xs = [1]; while (true) { xs = [xs, xs]; say(xs); }",
      'say("x".repeat(2000000))',
      'say("x".padEnd(1e9))',
      'const s = "a".repeat(500000); say(s.replaceAll("a", s))',
      'const xs = "a".repeat(100000).split(""); say(xs.map((x) => xs.includes("b")))',
      'throw new Error("enough")',
    ]
  ) {
    await assert.rejects(run(text), Stopped, text);
  }
});

Deno.test("a value carries where it comes from through every operation", async () => {
  const list = [{ id: 1, from: "mallory", text: "hi" }, { id: 2, from: "bob", text: "yo" }];
  const from = async (expression: string): Promise<bigint> => {
    const { marks } = await run(
      `const a = tools.one({}); const b = tools.two({}); say(${expression})`,
      { one: list, two: "two" },
    );
    return marks.at(-1)?.origins ?? 0n;
  };
  const one = 2n, two = 4n;
  for (
    const [expression, wanted] of [
      ['"own"', 0n],
      ["a", one],
      ["a.length", one],
      ["a[0].from + 1", one],
      ["`${a[0].id}`", one],
      ["[1, b]", two],
      ["{ x: { y: b } }", two],
      ["a.map((x) => 1).length", one],
      ["a.map((x) => 1)[0]", one],
      ["a.filter((x) => x.from === b).length", one | two],
      ["a.find((x) => x.id === 2) ? 1 : 0", one],
      ["a.length > 1 && 7", one],
      ["b ?? 7", two],
      ["(b === 'x' || 7)", two],
      ["Object.keys(a[0])", one],
      ["JSON.stringify({ b })", two],
      ["JSON.parse('[1]').concat([b])", two],
      ["[2, 1].sort((x, y) => a.length ? x - y : 0)", one],
      ["['x'].includes(b)", two],
      ["'x'.replace('x', b)", two],
      ["[b, 'x'].join(' ')", two],
      ["typeof b", two],
      ["[1, 2][a.length - 2]", one],
      ["({ yo: 1 })[a[1].text]", one],
      ["Math.max(a.length, 1)", one],
      ["[1, 2].reduce((x, y) => x + y, b.length)", two],
      ["'abc'.slice(a.length)", one],
    ] as const
  ) assert.equal(await from(expression), wanted, expression);
});

Deno.test("what a branch or loop decides carries what it looked at, also where it was not taken", async () => {
  const mark = async (text: string): Promise<Mark | undefined> =>
    (await run(`const r = tools.read({}); ${text}`, { read: { yes: true, list: [1, 2] } })).marks
      .at(-1);
  for (
    const text of [
      "let x = 1; if (r.yes) { x = 2; } say(x)",
      "let x = 1; if (!r.yes) { x = 2; } say(x)",
      "let n = 0; for (const i of r.list) { n = n + 1; } say(n)",
      "let n = 0; for (const i of r.list) { n++; } say(n)",
      "let n = 0; while (n < r.list.length) { n++; } say(n)",
      "const o = {}; if (r.no) { o.a = 1; } say(o)",
      "const xs = []; for (const i of [1, 2]) { if (r.no) { xs.push(1); } } say(xs)",
      "if (r.yes) { say('said') }",
      "const f = () => { if (r.yes) { return 1; } return 2; }; say(f())",
      "let n = 0; for (const i of [1, 2, 3]) { if (r.no) break; n++; } say(n)",
      "if (r.no) { return; } say('after')",
      "let n = 0; while (true) { if (r.yes) break; n++; } say('after')",
      "say(r.yes ? 1 : 2)",
      "const f = (x) => 1; say(r.list.map((x) => f(x)))",
    ]
  ) {
    const found = await mark(text);
    assert.equal(found?.origins, 2n, text);
    assert.deepEqual([found?.colour, found?.label], ["RED", "internal"], text);
  }
  const clean = await mark("let x = 1; if (1 > 0) { x = 2; } say(x)");
  assert.deepEqual([clean?.origins, clean?.colour], [0n, "BLUE"]);
});

Deno.test("a call says where its arguments come from, and that it is made at all", async () => {
  const { calls } = await run(
    "const r = tools.read({}); tools.send({ to: 'bob', text: 'own' }); tools.send({ to: 'bob', text: r.x }); " +
      "if (r.x) { tools.send({ to: 'bob', text: 'own' }); }",
    { read: { x: "from a stranger" } },
  );
  assert.deepEqual(calls.map(({ site, mark }) => [site, mark.origins]), [
    [1, 0n],
    [2, 0n],
    [3, 2n],
    [4, 2n],
  ]);
  assert.deepEqual(calls[2]?.args, { to: "bob", text: "from a stranger" });
});

Deno.test("what a call rejects with ends the program", async () => {
  const program = parseProgram("tools.a({}); tools.b({})");
  const made: string[] = [];
  await assert.rejects(
    runProgram(program, {
      call: ({ tool }) => {
        made.push(tool);
        return Promise.reject(new Fault("refused", "Cannot"));
      },
      say: () => undefined,
    }),
    (error) => error instanceof Fault && error.code === "refused",
  );
  assert.deepEqual(made, ["a"]);
});
