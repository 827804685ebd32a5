import { doesNotMatch, equal, match, ok } from "node:assert/strict";
import { exec } from "./_fixture/instance.ts";

const value = async (code: string, more: { language?: string; input?: unknown } = {}) => {
  const answer = await exec(code, more);
  ok(answer.ok, `${code} → ${JSON.stringify(answer.error)}`);
  return JSON.stringify(answer.value);
};
const error = async (code: string, more: { language?: string } = {}) => {
  const answer = await exec(code, more);
  ok(!answer.ok, `${code} → ${JSON.stringify(answer.value)}`);
  return `${answer.error?.code}: ${answer.error?.message}`;
};

Deno.test("alice's program has the value of its last expression, or what it returns", async () => {
  equal(await value("1+1"), "2");
  equal(await value("const a = [1, 2]; a.map((n) => n * 2)"), "[2,4]");
  equal(await value("const a = await Promise.resolve(3); a"), "3");
  equal(await value("const a = await Promise.resolve(4);\nreturn a + 1 // so"), "5");
  equal(await value("Promise.resolve({ a: Promise.resolve ? 1 : 2 })"), '{"a":1}');
  equal(await value("function f() { return 7 }\nf()"), "7");
  equal(await value("undefined"), "null");
  equal(await value("input.list.length", { input: { list: [1, 2, 3] } }), "3");
});

Deno.test("what JSON has no word for becomes what the tool's description says", async () => {
  equal(
    await value("[10n, new Set([1]), new Map([['a', 1]]), new Map([[1, 2]])]"),
    '["10",[1],{"a":1},[[1,2]]]',
  );
  equal(
    await value("[new Uint8Array([1, 2]), NaN, Infinity, -0, () => 1]"),
    "[[1,2],null,null,0,null]",
  );
  equal(
    await value("({ a: undefined, b: new Date(0), c: new TypeError('no') })"),
    '{"b":"1970-01-01T00:00:00.000Z","c":{"error":"TypeError: no"}}',
  );
  match(
    await error("const a = {}; a.a = a; a"),
    /^upstream: Cannot return the result as JSON: .*circular/,
  );
  match(await error("() => 1"), /^upstream: Cannot return the result: it is a function/);
  match(
    await error("'x'.repeat(9e6)"),
    /^tooLarge: Cannot return the result: it is 9000002 characters long/,
  );
});

Deno.test("an error says what, where, and nothing of the prelude", async () => {
  equal(
    await error("function f() {\n  null.x;\n}\nf()"),
    "upstream: Cannot finish: TypeError: cannot read property 'x' of null\n    at f (program.js:2:3)\n    at <eval> (program.js:4:1)",
  );
  equal(
    await error("async function f() {\n  await remit.tool('no_such');\n}\nawait f()"),
    "upstream: Cannot finish: RemitError: Cannot call no_such: it failed [upstream]",
  );
  match(await error("throw { a: 1 }"), /^upstream: Cannot finish: \{ a: 1 \}$/);
  match(
    await error("const a = 1;\nconst b = ;"),
    /^invalidArguments: Cannot read the program: line 2, column 11: SyntaxError/,
  );
  match(
    await error("return 1 + ;"),
    /^invalidArguments: Cannot read the program: line 1, column 12: SyntaxError/,
  );
  match(await error("import fs from 'fs'; 1"), /a program is a script/);
  match(await error("await import('fs')"), /could not load module 'fs'/);
  match(await error("new Promise(() => {})"), /a promise that never settles/);
});

Deno.test("TypeScript loses its types and keeps its lines", async () => {
  const code =
    "interface A { readonly b: number }\nenum E { X = 2 }\nconst a: A = { b: E.X as number };\nreturn a.b satisfies number";
  equal(await value(code, { language: "ts" }), "2");
  match(await error("const a: number = 1;\nnull!.x", { language: "ts" }), /program\.js:2:/);
  match(
    await error("const a: = 3", { language: "ts" }),
    /^invalidArguments: Cannot read the program: .*1:10/,
  );
  match(await error("1", { language: "py" }), /^invalidArguments: .*neither/);
});

Deno.test("TypeScript that is sent as JavaScript is named as what it is, and nothing of it runs", async () => {
  for (
    const code of [
      "const x: number = 5;\nconsole.log('ran');\nreturn x",
      "enum E { A }\nE.A",
      "class A { constructor(private x: number) {} }\nnew A(3)",
      "await 1 as any",
    ]
  ) {
    match(await error(code), /^invalidArguments: .*say language: "ts"\)$/, code);
    doesNotMatch(await error(code), /ran/, code);
  }
  for (const code of ["const b = ;", "return 1 + ;", "}); evil(); ({"]) {
    doesNotMatch(await error(code), /language/, code);
  }
});

Deno.test("two runs see the same clock and the same numbers, and timers do not wait", async () => {
  const code =
    "const a = [Date.now(), Math.random(), new Date().getTimezoneOffset()]; await new Promise((r) => setTimeout(r, 3600e3)); [...a, Date.now() - a[0]]";
  const first = await value(code);
  equal(first, await value(code));
  match(first, /^\[1767225600000,0\.\d+,0,3600000\]$/);
  equal(
    await value(
      "const a = []; setTimeout(() => a.push(2), 20); setTimeout(() => a.push(1), 10); const i = setInterval(() => { a.push(3); clearInterval(i) }, 30); await new Promise((r) => setTimeout(r, 100)); a",
    ),
    "[1,2,3]",
  );
});

Deno.test("a program calls tools in order, and catches what was refused", async () => {
  const seen: unknown[] = [];
  const answer = await exec(
    "const all = await Promise.all(['a', 'b'].map((path) => remit.tool('file_read', { path })));\n" +
      "try { await remit.tool('file_delete', { path: 'a' }) } catch (e) { all.push(e.code, e.message) }\nall",
    {},
    (fn, args) => {
      seen.push([fn, args]);
      if (args["name"] === "file_delete") {
        return { outcome: "deniedByUser", content: "", error: "bob said no" };
      }
      return { outcome: "ok", content: `text of ${JSON.stringify(args["args"])}` };
    },
  );
  equal(
    JSON.stringify(answer.value),
    JSON.stringify([
      'text of {"path":"a"}',
      'text of {"path":"b"}',
      "deniedByUser",
      "Cannot call file_delete: bob said no",
    ]),
  );
  equal(seen.length, 3);
});

Deno.test("a refusal of the host reaches the program as an error with its code", async () => {
  const refuse = () => {
    throw Object.assign(new Error("Cannot call the clock: it was not granted"), {
      code: "refused",
    });
  };
  equal(
    (await exec("try { await remit.clock() } catch (e) { `${e.code} ${e.message}` }", {}, refuse))
      .value,
    "refused Cannot call the clock: it was not granted",
  );
  const uncaught = await exec("await remit.clock()", {}, refuse);
  equal(uncaught.error?.code, "upstream");
  match(
    uncaught.error?.message ?? "",
    /RemitError: Cannot call the clock: it was not granted \[refused\]/,
  );
  equal(
    (await exec("(await remit.random(3)).join()", {}, () => ({ base64: "AQID" }))).value,
    "1,2,3",
  );
});

Deno.test("console goes to the log, and an unhandled rejection is told there", async () => {
  const { logs, value } = await exec(
    "console.log('a', { b: [1, new Map([['c', null]])], get d() { throw 1 } }); console.warn('w'); Promise.reject(new Error('nobody')); 5",
  );
  equal(value, 5);
  equal(logs[0], 'a { b: [ 1, Map { "c" → null } ], d: [getter] }');
  equal(logs[1], "warning: w");
  match(logs[2] ?? "", /^error: a rejection that nobody handled: Error: nobody/);
});

Deno.test("text, base64 and clones are there as libraries expect them", async () => {
  equal(
    await value("[...new TextEncoder().encode('é€😀\\ud800')]"),
    JSON.stringify([...new TextEncoder().encode("é€😀\ud800")]),
  );
  // What does not fit whole is left out: no half of a pair.
  equal(
    await value("new TextEncoder().encodeInto('a😀', new Uint8Array(4))"),
    JSON.stringify({ read: 1, written: 1 }),
  );
  const bytes = [0xef, 0xbb, 0xbf, 0x61, 0xff, 0xc3, 0x62, 0xc3, 0xa9];
  equal(
    await value(`new TextDecoder().decode(new Uint8Array(${JSON.stringify(bytes)}))`),
    JSON.stringify(new TextDecoder().decode(new Uint8Array(bytes))),
  );
  equal(
    await value("new TextDecoder().decode(new Uint8Array([0, 97, 98, 0]).subarray(1, 3))"),
    '"ab"',
  );
  match(
    await error("new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]))"),
    /not UTF-8/,
  );
  equal(
    await value(
      "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([239, 191, 189]))",
    ),
    '"\ufffd"',
  );
  equal(await value("btoa('hi') + atob('aGk=')"), '"aGk=hi"');
  equal(
    await value(
      "const a = { m: new Map([[1, new Date(5)]]) }; a.self = a; const b = structuredClone(a); b.self === b && b !== a && b.m.get(1).getTime()",
    ),
    "5",
  );
});
