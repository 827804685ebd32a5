/** What carol is told of a program before it runs is at least what it does. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../contracts/base/fault.ts";
import type { PlanProgram } from "../contracts/exchange/planned.ts";
import type { PlanTemplate } from "../contracts/authority/plan.ts";
import { analyse, parseProgram, type SiteFacts } from "./mod.ts";
import { runProgram, Stopped } from "./run/mod.ts";

const facts = (text: string): readonly SiteFacts[] => analyse(parseProgram(text));
const templates = (text: string): readonly PlanTemplate[] =>
  facts(text).map(({ template }) => template);

Deno.test("literals are read from the text, also by way of what is set once", () => {
  const [site] = templates(
    "const bob = 'bob@x'; const n = 10; const list = [bob, 'carol@x'];" +
      "tools.send({ to: bob, cc: list, text: `Dear ${bob}` + '!', amount: n * 1.5, at: { day: -1, open: true, none: null } })",
  );
  assert.deepEqual(site, {
    record: {
      to: { literal: "bob@x" },
      cc: { literal: ["bob@x", "carol@x"] },
      text: { literal: "Dear bob@x!" },
      amount: { literal: 15 },
      at: { literal: { day: -1, open: true, none: null } },
    },
  });
  const changed = templates(
    "let to = 'bob'; to = 'eve'; const o = { to: 'bob' }; o.to = 'eve'; tools.send({ to, o })",
  );
  assert.deepEqual(changed, [{ record: { to: { from: [] }, o: { from: [] } } }]);
});

Deno.test("what is derived names the calls that it is derived from", () => {
  const all = facts(
    "const mails = tools.list({ of: 'me' }); const rate = tools.rate({});" +
      "const send = (to, text) => tools.send({ to, text, fixed: 'yes' });" +
      "for (const mail of mails) { if (mail.amount > 5) { send(mail.from, `${rate.eur}`); } }" +
      "tools.done({ id: [mails[0].id, 'own'] })",
  );
  assert.deepEqual(all.map(({ tool, times, under }) => [tool, times, under]), [
    ["list", 1, []],
    ["rate", 1, []],
    ["send", Infinity, [1]],
    ["done", 1, []],
  ]);
  assert.deepEqual(all[2]?.template, {
    record: { to: { from: [1] }, text: { from: [1, 2] }, fixed: { literal: "yes" } },
  });
  assert.deepEqual(all[3]?.template, {
    record: { id: { list: [{ from: [1] }, { literal: "own" }] } },
  });
});

Deno.test("how often a call is made is read from the text where that says it", () => {
  const times = (text: string): readonly number[] => facts(text).map((each) => each.times);
  assert.deepEqual(times("for (const x of ['a', 'b', 'c']) { tools.send({ x }); }"), [3]);
  assert.deepEqual(
    times("const xs = [1, 2]; for (const x of xs) for (const y of xs) tools.send({ x, y })"),
    [4],
  );
  assert.deepEqual(
    times(
      "const xs = [1]; while (xs.length < 9) { for (const x of xs) { tools.a({ x }); } xs.push(1); }",
    ),
    [Infinity],
  );
  assert.deepEqual(times("const f = () => tools.a({}); f(); f(); if (f()) f()"), [4]);
  assert.deepEqual(times("['a', 'b'].map((x) => tools.a({ x }))"), [2]);
  assert.deepEqual(times("function f(n) { tools.a({ n }); if (n > 0) f(n - 1); } f(3)"), [
    Infinity,
  ]);
  assert.deepEqual(times("const f = () => tools.a({});"), [0]);
  // Calls of calls, twice each, are counted and not walked.
  const deep = Array.from(
    { length: 60 },
    (_, n) => `const f${n + 1} = () => { f${n}(); f${n}(); };`,
  ).join("");
  assert.deepEqual(times(`const f0 = () => { tools.a({}); }; ${deep} f60()`), [2 ** 60]);
});

Deno.test("an early end decides what comes after it, and nothing before", () => {
  const under = (text: string): readonly (readonly number[])[] =>
    facts(text).map((each) => each.under);
  assert.deepEqual(under("const r = tools.read({}); if (r.none) { return; } tools.send({})"), [[], [
    1,
  ]]);
  assert.deepEqual(
    under("const r = tools.read({}); for (const x of [1, 2]) { if (r[x]) break; tools.send({}); }"),
    [[], [1]],
  );
  assert.deepEqual(
    under("const r = tools.read({}); r.yes && tools.send({}); r.yes ? tools.a({}) : tools.b({})"),
    [[], [1], [1], [1]],
  );
});

Deno.test("a program whose values depend on each other without end is not taken", () => {
  const chain = Array.from({ length: 80 }, (_, n) => `v${80 - n - 1} = v${80 - n};`).reverse().join(
    "",
  );
  const vars = Array.from({ length: 81 }, (_, n) => `let v${n} = 0;`).join("");
  const text = `${vars} for (const i of [1]) { ${chain} v80 = tools.a({}); } tools.b({ x: v0 })`;
  assert.throws(
    () => facts(text),
    (error) => error instanceof Fault && /plainer/.test(error.message),
  );
});

Deno.test("a value that doubles itself is not followed to its end", () => {
  const doubles = (made: (before: string) => string): string =>
    Array.from({ length: 100 }, (_, n) => `const b${n} = ${n === 0 ? "'x'" : made(`b${n - 1}`)};`)
      .join("");
  for (
    const made of [
      (b: string) => `${b} + ${b}`,
      (b: string) => `[${b}, ${b}]`,
      (b: string) => `({ a: ${b}, b: ${b} })`,
      (b: string) => `\`\${${b}}\${${b}}\``,
    ]
  ) {
    const text = `${doubles(made)} tools.a({ big: b99, small: b2 });`;
    const [site] = templates(text);
    assert.ok(site !== undefined && "record" in site);
    assert.deepEqual(site.record["big"], { from: [] }, text);
    assert.ok("literal" in (site.record["small"] ?? {}));
  }
});

/** Programs over two sources, with branches, loops, functions and early ends. */
const expression = fc.letrec<{ readonly e: string }>((tie) => ({
  e: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(
      "1",
      "'t'",
      "x",
      "y",
      "a.n",
      "b.n",
      "a.list",
      "xs[0]",
      "o.k",
      "tools.c({ v: x })",
    ),
    fc.tuple(tie("e"), fc.constantFrom("===", "!=="), tie("e")).map(([l, op, r]) =>
      `(${l} ${op} ${r})`
    ),
    fc.tuple(tie("e"), tie("e"), tie("e")).map(([c, l, r]) => `(${c} ? ${l} : ${r})`),
    fc.tuple(tie("e"), fc.constantFrom("&&", "||", "??"), tie("e")).map(([l, op, r]) =>
      `((${l}) ${op} (${r}))`
    ),
    tie("e").map((e) => `f(${e})`),
    tie("e").map((e) => `[${e}].map((q) => [q, x])[0]`),
    tie("e").map((e) => `[1, ${e}].reduce((p, q) => q ?? p, y)`),
    tie("e").map((e) => `a.list.find((q) => q === ${e})`),
    tie("e").map((e) => `[2, 1].sort((p, q) => ${e} ? p - q : q - p)[0]`),
    tie("e").map((e) => `({ ...o, m: ${e} })`),
    tie("e").map((e) => `\`\${JSON.stringify(${e})}\``),
    tie("e").map((e) => `xs.filter((q) => ${e}).length`),
  ),
})).e;
const statement = fc.letrec<{ readonly s: string }>((tie) => ({
  s: fc.oneof(
    { maxDepth: 3 },
    expression.map((e) => `x = ${e};`),
    expression.map((e) => `y = ${e};`),
    expression.map((e) => `tools.sink({ v: ${e} });`),
    fc.tuple(expression, tie("s"), tie("s")).map(([c, yes, no]) =>
      `if (${c}) { ${yes} } else { ${no} }`
    ),
    tie("s").map((s) => `for (const i of a.list) { ${s} if (i === b.n) break; }`),
    expression.map((e) => `if (${e}) { return; }`),
    expression.map((e) => `xs.push(${e});`),
    expression.map((e) => `o.k = ${e};`),
    expression.map((e) => `{ const { list: [p, ...q], none = ${e} } = b; x = [p, q, none]; }`),
    tie("s").map((s) => `while (xs.length < 3) { xs.push(1); ${s} }`),
    tie("s").map((s) => `b.list.forEach((i) => { ${s} });`),
    expression.map((e) => `y = g(${e}, x);`),
    fc.tuple(tie("s"), tie("s")).map(([one, two]) => `${one} ${two}`),
  ),
})).s;

Deno.test("no run of any program does what its analysis does not say", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(statement, { minLength: 1, maxLength: 5 }),
      fc.nat(3),
      async (body, n) => {
        const text = `const a = tools.a({}); const b = tools.b({}); let x = 1; let y = 'own';
        const xs = []; const o = { k: 1 };
        const f = (p) => { if (p === a.n) { return b.n; } return p; };
        function g(p, q) { for (const i of a.list) { if (i === q) return p; } return f(q); }
        ${body.join("\n")}`;
        let program: PlanProgram;
        try {
          program = parseProgram(text);
        } catch (error) {
          // A forEach has no early end within a loop of its own.
          assert.ok(
            error instanceof Fault && /in place of forEach/.test(error.message),
            `${error}\n${text}`,
          );
          return;
        }
        const sites = analyse(program);
        const made = new Map<number, number>();
        const origins = (from: readonly number[]): bigint =>
          from.reduce((all, site) => all | (1n << BigInt(site)), 0n);
        const run = runProgram(program, {
          call({ site, args, mark }) {
            const fact = sites[site - 1];
            assert.ok(fact !== undefined);
            made.set(site, (made.get(site) ?? 0) + 1);
            assert.ok(
              (made.get(site) ?? 0) <= fact.times,
              `site ${site} ${made.get(site)} > ${fact.times}\n${text}`,
            );
            const template = fact.template.record["v"];
            const told = origins(fact.under) |
              (template !== undefined && "from" in template ? origins(template.from) : 0n) |
              (template !== undefined && "list" in template ? ~0n : 0n);
            assert.equal(
              mark.origins & ~told,
              0n,
              `site ${site}: ${mark.origins} not within ${told}\n${text}`,
            );
            if (template !== undefined && "literal" in template) {
              assert.deepEqual(args["v"], template.literal, text);
            }
            return Promise.resolve({
              value: { n, list: [n, 1] },
              mark: { colour: "RED", label: "public" },
            });
          },
          say: () => undefined,
        });
        await run.catch((error) => assert.ok(error instanceof Stopped, `${error}\n${text}`));
      },
    ),
    { numRuns: 1_500 },
  );
});
