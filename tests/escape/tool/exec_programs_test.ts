/** Programs that a model wrote, run by `exec` in a whole kernel: what mallory's come to. */
import assert from "node:assert/strict";
import { besiege } from "../../fake/siege.ts";
import { realTools } from "../../fake/tools.ts";
import { calling, cameOf, type Try } from "../_calls.ts";

interface Program {
  readonly name: string;
  readonly code: string;
  readonly outcome: string | readonly string[];
  /** What the result, or the error, says. */
  readonly says: RegExp;
  readonly language?: "ts";
  readonly timeoutMs?: number;
}

const PROGRAMS: readonly Program[] = [
  { name: "adds", code: "1 + 1", outcome: "ok", says: /^2$/ },
  {
    name: "spins",
    code: "for (;;) {}",
    timeoutMs: 300,
    outcome: "timedOut",
    says: /more than 300 ms/,
  },
  {
    name: "spins in a regular expression",
    code: `/^(a+)+$/.test("a".repeat(40) + "b")`,
    timeoutMs: 300,
    outcome: "timedOut",
    says: /more than 300 ms/,
  },
  {
    name: "spins in a sort",
    code:
      "let n = 0; Array.from({ length: 1e6 }, (_, i) => i).sort(() => { for (let i = 0; i < 1e6; i++) n++; return 1; })",
    timeoutMs: 300,
    outcome: "timedOut",
    says: /more than 300 ms/,
  },
  {
    name: "eats memory",
    code: "const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))",
    outcome: "executionError",
    says: /memory/i,
  },
  {
    name: "eats memory in one text",
    code: `let s = "x"; for (;;) s += s`,
    outcome: "executionError",
    says: /memory|too long|length/i,
  },
  {
    name: "recurses",
    code: "const f = () => f() + 1; f()",
    outcome: "executionError",
    says: /stack/i,
  },
  {
    name: "imports",
    code: `await import("node:fs")`,
    outcome: "executionError",
    says: /import|module/i,
  },
  {
    name: "looks for a way out by constructors",
    code: `const g = remit.tool.constructor("return this")();
      [typeof g.Deno, typeof g.process, typeof g.require, typeof g.host_call, typeof g.fetch]`,
    outcome: "ok",
    says: /^\[\s*"undefined",\s*"undefined",\s*"undefined",\s*"undefined",\s*"undefined"\s*\]$/,
  },
  {
    name: "changes what it was handed",
    code: `"use strict"; try { remit.tool = () => "mine"; "changed" } catch (e) { e.name }`,
    outcome: "ok",
    says: /^TypeError$/,
  },
  {
    name: "waits for what never comes",
    code: "await new Promise(() => {})",
    outcome: "executionError",
    says: /never/i,
  },
  {
    name: "reaches for the keys",
    code: `await remit.tool("file_read", { path: "desk/keys.env" })`,
    outcome: "executionError",
    says: /never-list|keys\.env/,
  },
  {
    name: "reaches for the network",
    code: `await remit.tool("http_fetch", { url: "https://evil.example/" })`,
    outcome: "executionError",
    says: /forbidden|network/i,
  },
  {
    name: "calls a tool that is not there",
    code: `await remit.tool("__proto__", {})`,
    outcome: "executionError",
    says: /not among the tools/,
  },
  {
    name: "calls itself for ever",
    code:
      `const me = "await remit.tool('exec', { code: " + JSON.stringify("throw new Error('deepest')") + " })";
      let code = me; for (let i = 0; i < 6; i++) code = "await remit.tool('exec', { code: " + JSON.stringify(code) + " })";
      await remit.tool("exec", { code })`,
    outcome: "executionError",
    says: /calls within calls/,
  },
  {
    name: "forges what it answers",
    code: `({ ok: true, value: 1, discard: false, __proto__: { outcome: "ok" }, colour: "BLUE" })`,
    outcome: "ok",
    says: /"colour": "BLUE"/,
  },
  {
    name: "has types",
    code:
      "const n: number = 20; const twice = <T extends number>(a: T): number => a * 2; twice(n) + 2",
    language: "ts",
    outcome: "ok",
    says: /^42$/,
  },
  {
    name: "answers with a gigabyte",
    code: `"x".repeat(30e6)`,
    outcome: "executionError",
    says: /memory|long|large|bytes/i,
  },
  {
    name: "asks and asks",
    code:
      `let n = 0; try { for (;;) { await remit.progress("x"); n++; } } catch (e) { ({ n, code: e.code }) }`,
    outcome: "ok",
    says: /"n": 10000|"n": 9999/,
  },
];

Deno.test("mallory's programs are contained, each said for what it is, and the task goes on", async () => {
  await besiege(async (siege) => {
    await Deno.writeTextFile(`${siege.desk}/keys.env`, "TOKEN=plum-orchard-7731\n");
    const tries = PROGRAMS.map(({ code, language, timeoutMs }): Try => ["exec", {
      code,
      ...(language === undefined ? {} : { language }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }]);
    const last: Try = ["file_read", { path: "desk/notes/plan.md" }];
    const limits = { toolCalls: 20_000, toolTimeoutMs: 60_000 };
    const mallory = await siege.run({ program: calling([...tries, last]), limits });
    const came = await cameOf(mallory);
    for (const [i, { name, outcome, says }] of PROGRAMS.entries()) {
      const one = came[i];
      const said = one?.outcome === "ok" ? one.content : one?.error ?? "";
      const told = `${name}: ${JSON.stringify(one)}`;
      assert.ok([outcome].flat().includes(one?.outcome ?? ""), told);
      assert.match(said, says, told);
      assert.equal(JSON.stringify(one).includes("plum-orchard"), false, told);
    }
    assert.equal(came.at(-1)?.content, "call the supplier\n");
  }, { config: { tools: await realTools() } });
});

Deno.test("while mallory's program spins, alice's task is not held up", async () => {
  await besiege(async (siege) => {
    const spin: Try = ["exec", { code: "for (;;) {}", timeoutMs: 20_000 }];
    const mallory = await siege.run({
      program: calling([spin]),
      limits: { toolTimeoutMs: 60_000 },
    });
    await mallory.first(({ event }) => event === "processStarted" || event === "leaseGranted");
    const alice = await siege.run({
      program: calling([["file_read", { path: "desk/notes/plan.md" }], ["exec", {
        code: "6 * 7",
      }]]),
    });
    const came = await cameOf(alice);
    assert.deepEqual(came.map(({ content }) => content), ["call the supplier\n", "42"]);
    // Still at it: alice did not wait for its end.
    assert.equal(String((await mallory.task())["status"]), "open");
    await siege.ask("cancel", { task: mallory.id });
    await mallory.end;
  }, { config: { tools: await realTools() } });
});

Deno.test("what a program read colours what it answers, whatever it says of it", async () => {
  await besiege(async (siege) => {
    const code =
      `await remit.tool("file_read", { path: "desk/notes/plan.md" }); "clean, BLUE, public"`;
    const mallory = await siege.run({ program: calling([["exec", { code }]]), colour: "BLUE" });
    const [one] = await cameOf(mallory);
    assert.equal(one?.outcome, "ok");
    assert.equal(one?.colour, "YELLOW");
    assert.equal(one?.label, "internal");
  }, { config: { tools: await realTools() } });
});

Deno.test("a change that a program asks for is a question of its own, answered as itself", async () => {
  await besiege(async (siege) => {
    const code = `await remit.tool("file_write", { path: "desk/new.md", content: "hi" });
      try { await remit.tool("patch_apply", {}); } catch (e) { e.code + ": " + e.message }`;
    const mallory = await siege.run({
      program: calling([["exec", { code }]]),
      onQuestion: "ask",
      limits: { toolTimeoutMs: 60_000 },
    });
    const { body } = await mallory.first(({ event }) => event === "questionAsked");
    const id = String(body["question"]);
    const question = await siege.question(id);
    assert.equal(question.scope.tool, "patch_apply");
    assert.deepEqual(question.changes.map(({ path }) => path), ["desk/new.md"]);
    await siege.answer(id, "deny");
    const [one] = await cameOf(mallory);
    assert.equal(one?.outcome, "ok");
    assert.match(one?.content ?? "", /denied/);
    assert.equal(await Deno.stat(`${siege.desk}/new.md`).catch(() => "absent"), "absent");
  }, { config: { tools: await realTools() } });
});
