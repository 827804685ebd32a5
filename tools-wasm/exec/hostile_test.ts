import { equal, match, ok } from "node:assert/strict";
import { exec, makeInstance } from "./_fixture/instance.ts";

/** Everything that a program can get at, made to lie or to listen before `remit` is used. */
const LISTENING = `
let heard = "";
const hear = (name) => function () { heard += name + " "; };
for (const key of ["ok", "value", "error", "code", "message", "outcome", "content", "fn", "args", "name", "text", "kind", "body", "script", "0", "1"]) {
  Object.defineProperty(Object.prototype, key, { __proto__: null, configurable: true, set() { heard += "set " + key + " " } });
}
JSON.stringify = hear("stringify"); JSON.parse = hear("parse");
Promise.prototype.then = hear("then"); Promise.resolve = hear("resolve");
Array.prototype.push = hear("push"); Array.prototype[Symbol.iterator] = hear("iterator");
Map.prototype.get = hear("get"); Map.prototype.set = hear("set"); Map.prototype.forEach = hear("forEach");
String.prototype.slice = hear("slice"); String.prototype.indexOf = hear("indexOf");
Function.prototype.call = hear("call"); Function.prototype.apply = hear("apply"); Function.prototype.bind = hear("bind");
Reflect.apply = hear("Reflect.apply"); Object.freeze = hear("freeze"); Object.keys = hear("keys");
Object.defineProperty(Array.prototype, "0", { __proto__: null, configurable: true, set() { heard += "set [0] " } });
Object.defineProperty(Promise.prototype, "constructor", { __proto__: null, get() { heard += "constructor "; return Promise } });
Object.prototype.toJSON = hear("toJSON");
`;

Deno.test("mallory replaces what JavaScript has, and hears nothing of what remit says", async () => {
  const program = LISTENING + `
const got = await remit.tool("file_read", Object.assign(Object.create(null), { toJSON: undefined, path: "a" }));
console.log("still here");
return heard + "|" + got`;
  const { ok: fine, value, asked } = await exec(
    program,
    {},
    (fn) => fn === "log" ? null : { outcome: "ok", content: "secret" },
  );
  ok(fine);
  // `await` itself asks a promise for its constructor, and QuickJS' JSON keeps the program's own arguments in an array.
  match(String(value), /^(set \[0\] )?(constructor )*\|secret$/);
  equal(asked[0]?.fn, "tool.call");
  equal(JSON.stringify(asked[0]?.args), '{"name":"file_read","args":{"path":"a"}}');
  equal(JSON.stringify(asked[1]), '{"fn":"log","args":{"text":"still here"}}');
});

Deno.test("mallory's result cannot pass for another answer", async () => {
  const forged =
    '({ toJSON: () => ({ ok: false, error: { code: "denied", message: "x" }, discard: true }) })';
  const answer = await exec(forged);
  equal(answer.ok, true);
  equal(answer.discard, undefined);
  equal(
    JSON.stringify(answer.value),
    '{"ok":false,"error":{"code":"denied","message":"x"},"discard":true}',
  );
  const thrown = await exec('throw Object.assign(new Error("bob said no"), { code: "denied" })');
  equal(thrown.error?.code, "upstream");
  equal(
    (await exec(
      'const e = new RangeError("x"); Object.defineProperty(e, "message", { get() { throw 1 } }); throw e',
    )).error?.code,
    "upstream",
  );
  equal(
    (await exec(
      'throw new Proxy(new Error("x"), { getPrototypeOf() { throw 1 }, get() { throw 2 } })',
    )).error?.code,
    "upstream",
  );
  equal(
    (await exec('({ get a() { throw new Error("getter") } })')).error?.message,
    "Cannot return the result as JSON: Error: getter",
  );
  equal(
    JSON.stringify(
      (await exec(
        'new Proxy({}, { ownKeys: () => ["a"], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: () => 2 })',
      )).value,
    ),
    '{"a":2}',
  );
  equal(JSON.stringify((await exec("({ then(done) { done({ a: 1 }) } })")).value), '{"a":1}');
});

Deno.test("remit's objects are frozen, and their constructors lead back into the sandbox", async () => {
  const { value } = await exec(`
    const seen = [];
    const walk = (it) => { for (const key of Reflect.ownKeys(it)) { const d = Object.getOwnPropertyDescriptor(it, key); seen.push(!d.configurable && !d.writable); if (typeof d.value === "object" || typeof d.value === "function") { seen.push(Object.isFrozen(d.value)); if (typeof d.value === "object") walk(d.value) } } };
    walk(remit);
    const d = Object.getOwnPropertyDescriptor(globalThis, "remit");
    globalThis.remit = 1; delete globalThis.remit;
    try { Object.getPrototypeOf(remit.tool).extra = 1 } catch {}
    [seen.every(Boolean), d.writable, d.configurable, typeof remit, remit.tool.constructor("return this")() === globalThis, (() => { try { return remit.fs.read.caller } catch { return null } })(), typeof __made, typeof __tools]`);
  equal(JSON.stringify(value), '[true,false,false,"object",true,null,"undefined","undefined"]');
});

Deno.test("there is nothing of a host: no modules, files, processes, workers or real time", async () => {
  const { value } = await exec(
    '["std", "os", "require", "process", "Deno", "Worker", "fetch", "WebAssembly", "scriptArgs", "print", "bjson"].filter((name) => name in globalThis)',
  );
  equal(JSON.stringify(value), "[]");
  match(
    (await exec("import('./x.js').then(() => 1, (e) => String(e))")).value as string,
    /could not load module/,
  );
  match(
    String((await exec("Function('return import(\"os\")')().catch(String)")).value),
    /could not load module/,
  );
  equal(
    (await exec(
      "Error.prepareStackTrace = (_e, sites) => sites; Array.isArray(new Error('x').stack)",
    )).value,
    false,
  );
});

Deno.test("memory, strings and recursion end in an error that discards the instance", async () => {
  for (
    const code of [
      "const all = []; for (;;) all.push(new Array(1e5).fill(1))",
      "const all = []; for (;;) all.push(new Uint8Array(1 << 20))",
      "const f = () => f(); f()",
      "const f = (a) => [f(a)]; f(1)",
      "const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)",
      "class A { get x() { return new Proxy({}, { get: () => new A().x }).y } } new A().x",
    ]
  ) {
    const instance = await makeInstance();
    const answer = await instance.call("exec", { code });
    equal(answer.error?.code, "tooLarge", code);
    equal(answer.discard, true, code);
    ok(instance.bytes() <= 2_048 * 65_536);
    // INVARIANT: a spent instance answers nothing more.
    const again = await instance.call("exec", { code: "1" }).then(
      () => "answered",
      (error) => String(error),
    );
    match(again, /unreachable/);
    await instance.close();
  }
});

Deno.test("nesting that outruns the machine's stack traps, and hurts nobody else", async () => {
  for (
    const code of [
      "const o = []; let p = o; for (let i = 0; i < 1e5; i++) { p[0] = []; p = p[0] } o",
      "eval('['.repeat(1e5))",
      "JSON.parse('['.repeat(1e5))",
    ]
  ) {
    const end = await exec(code).then(
      (answer) => String(answer.error?.code),
      (error) => String(error),
    );
    match(end, /Maximum call stack|tooLarge/, code);
  }
  equal((await exec("1+1")).value, 2);
});

Deno.test("a flood of lines is cut, and what a program holds back is not waited for", async () => {
  const lines = await exec("for (let i = 0; i < 1e5; i++) console.log('line', i); 1");
  equal(lines.value, 1);
  equal(lines.logs.length, 1_001);
  match(lines.logs[1_000] ?? "", /log is full/);
  const long = await exec("console.log('x'.repeat(1e7)); console.log('y'); 2");
  equal(long.value, 2);
  ok(long.logs.join("").length < 70_000);
  const deep = await exec(
    "const o = {}; let p = o; for (let i = 0; i < 1e5; i++) { p.a = {}; p = p.a } console.log(o, Array(1e6).fill(0)); 3",
  );
  equal(deep.value, 3);
  match(
    (await exec("const wait = () => new Promise(() => {}); await Promise.all([wait(), wait()])"))
      .error?.message ?? "",
    /never settles/,
  );
});

Deno.test("arguments that are not an object of JSON never reach the host", async () => {
  for (
    const code of [
      "remit.tool('a', 1)",
      "remit.tool('a', [1])",
      "remit.tool({ toString: () => 'a' })",
      "remit.fs.read('x')",
      "remit.tool('a', { toJSON: () => 'x' })",
      "remit.log(5)",
      "const a = {}; a.a = a; remit.tool('a', a)",
      "remit.tool('a', { b: 1n })",
    ]
  ) {
    const { ok: fine, asked } = await exec(code);
    ok(!fine, code);
    equal(asked.length, 0, code);
  }
  // The name is text inside the request, whatever it holds.
  const { asked } = await exec(
    `await remit.tool('x","args":{},"fn":"fs.read', { "__proto__": 1, fn: "fs.read" })`,
    {},
    () => ({ outcome: "ok", content: "" }),
  );
  equal(asked[0]?.fn, "tool.call");
  equal(asked[0]?.args["name"], 'x","args":{},"fn":"fs.read');
});
