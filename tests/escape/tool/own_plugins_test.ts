/** Plugins that nobody signed, in a whole kernel: what they are given, and what they reach for. */
import assert from "node:assert/strict";
import type { HostFunction } from "../../../contracts/tool/mod.ts";
import { calling, cameOf, type Try } from "../_calls.ts";
import { withPlugins } from "../_plugins.ts";

Deno.test("mallory's plugin gets what its call names and nothing beside it", async () => {
  const all: HostFunction[] = ["fs.read", "fs.list", "fs.write", "fs.delete", "secret.use"];
  await withPlugins({ mallory: all, bare: [] }, async (siege) => {
    await Deno.writeTextFile(`${siege.desk}/keys.env`, "TOKEN=plum-orchard-7731\n");
    const plan = "desk/notes/plan.md";
    const tries: readonly (readonly [Try, RegExp, boolean])[] = [
      [
        ["mallory", { code: `return (await remit.fs.read({ path: "${plan}" })).text`, path: plan }],
        /call the supplier/,
        true,
      ],
      [
        ["mallory", { code: `return (await remit.fs.read({ path: "${plan}" })).text` }],
        /was made for no path/,
        false,
      ],
      [
        ["mallory", { code: `return await remit.fs.list({ path: "desk" })`, path: plan }],
        /was made for/,
        false,
      ],
      [
        ["mallory", {
          code: `return await remit.fs.read({ path: "desk/keys.env" })`,
          path: "desk/keys.env",
        }],
        /never-list|keys\.env/,
        false,
      ],
      [
        ["mallory", {
          code: `return await remit.fs.read({ path: "desk/keys.env" })`,
          path: "desk",
        }],
        /never-list|keys\.env/,
        false,
      ],
      [
        ["mallory", { code: `return await remit.fs.read({ path: "/etc/passwd" })`, path: "desk" }],
        /absolute/,
        false,
      ],
      [
        ["mallory", {
          code: `return await remit.fs.write({ path: "desk/x.md", text: "x" })`,
          path: "desk",
        }],
        /was made for no path/,
        false,
      ],
      [
        ["mallory", {
          code: `await remit.fs.write({ path: "desk/x.md", text: "x" }); return "staged"`,
          out: "desk/x.md",
        }],
        /staged/,
        true,
      ],
      [
        ["mallory", { code: `return await remit.http.fetch({ url: "https://example.org/" })` }],
        /did not ask for it/,
        false,
      ],
      [
        ["mallory", { code: `return await remit.tool("file_read", { path: "${plan}" })` }],
        /did not ask for it/,
        false,
      ],
      [
        ["mallory", { code: `return await remit.secret.use({ name: "shop" })` }],
        /there is none/,
        false,
      ],
      [
        ["bare", { code: `return (await remit.fs.read({ path: "${plan}" })).text`, path: plan }],
        /did not ask for it/,
        false,
      ],
      [
        ["bare", {
          code: `return [typeof Deno, typeof process, typeof fetch, typeof require].join()`,
        }],
        /undefined,undefined,undefined,undefined/,
        true,
      ],
      [["bare", { code: `globalThis.left = "kept"; return "left"` }], /left/, true],
      [["mallory", { code: `return String(globalThis.left)` }], /undefined/, true],
    ];
    const run = await siege.run({ program: calling(tries.map(([one]) => one)) });
    const came = await cameOf(run);
    for (const [i, [one, says, ok]] of tries.entries()) {
      const told = JSON.stringify([one, came[i]]);
      assert.equal(came[i]?.outcome === "ok", ok, told);
      assert.match(`${came[i]?.content}${came[i]?.error}`, says, told);
      assert.equal(told.includes("plum-orchard"), false, told);
    }
  });
});

Deno.test("unsigned plugins live in processes of their own: one that dies takes nobody along", async () => {
  await withPlugins({ mallory: [], alice: [] }, async (siege) => {
    const tries: readonly Try[] = [
      ["alice", { code: "globalThis.n = 1; return 1" }],
      ["mallory", { code: "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))" }],
      ["alice", { code: "return String(globalThis.n)" }],
      ["text_count", { text: "one two" }],
    ];
    const came = await cameOf(await siege.run({ program: calling(tries) }));
    assert.deepEqual(came.map(({ outcome }) => outcome), ["ok", "executionError", "ok", "ok"]);
    assert.equal(came[2]?.content, "1");
  });
});

Deno.test("a plugin that may asks the task's model; what it answers is no message of the agent's", async () => {
  await withPlugins({ alice: ["model.complete"], mallory: [] }, async (siege) => {
    const ask = `return (await remit.model.complete({ prompt: "What is six times seven?" })).text`;
    const run = await siege.run({
      turns: [
        "  - { when: { user: six times seven }, say: forty-two }",
        "  - when: { always: true, step: 1 }",
        `    calls: [{ tool: alice, args: { code: ${JSON.stringify(ask)} } }]`,
        "  - when: { step: 2 }",
        `    calls: [{ tool: mallory, args: { code: ${JSON.stringify(ask)} } }]`,
        `  - when: { step: 3 }`,
        `    say: "{{ tool.alice }} and {{ tool.mallory }}"`,
      ].join("\n"),
    });
    await run.end;
    const task = await run.task();
    assert.match(String(task["answer"]), /^forty-two and .*did not ask for it/s);
    const log = await siege.ask("log", { task: run.id, from: 0 }) as {
      event: string;
      body: Record<string, unknown>;
    }[];
    const asides = log.filter(({ event, body }) => event === "inferred" && body["aside"] === true);
    assert.equal(asides.length, 1);
  });
});

Deno.test("a result that breaks its schema is no result", async () => {
  await withPlugins({ numbers: [] }, async (siege) => {
    const tries: readonly Try[] = [
      ["numbers", { code: "return 42" }],
      ["numbers", { code: 'return "forty-two"' }],
      ["numbers", { code: "return { __proto__: null, valueOf: 42 }" }],
    ];
    const came = await cameOf(await siege.run({ program: calling(tries) }));
    assert.deepEqual(came.map(({ outcome }) => outcome), [
      "ok",
      "executionError",
      "executionError",
    ]);
    assert.match(came[1]?.error ?? "", /Cannot use the result of "numbers"/);
  });
});
