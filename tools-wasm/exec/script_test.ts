import { equal, match } from "node:assert/strict";
import { bundleScript } from "../sdk/ts/bundle.ts";
import { makeInstance } from "./_fixture/instance.ts";

const load = async (source: string, answer?: Parameters<typeof makeInstance>[0]) => {
  const instance = await makeInstance(answer);
  const loaded = await instance.call("@load", { source });
  return { instance, loaded };
};

Deno.test("a script is loaded once, and its tools are called by name with what they may ask for", async () => {
  const { instance, loaded } = await load(
    "globalThis.__tools = { twice: (args) => ({ n: args.n * 2 }), read: async (args, remit) => (await remit.fs.read({ path: args.path })).text }",
    (fn, args) => fn === "fs.read" ? { text: `text of ${args["path"]}`, bytes: 1, end: 1 } : null,
  );
  equal(JSON.stringify(loaded), '{"ok":true,"value":null}');
  equal(JSON.stringify(await instance.call("twice", { n: 21 })), '{"ok":true,"value":{"n":42}}');
  equal((await instance.call("read", { path: "desk/a.md" })).value, "text of desk/a.md");
  equal((await instance.call("exec", { code: "1" })).error?.code, "unknownTool");
  equal((await instance.call("toString", {})).error?.code, "unknownTool");
  equal((await instance.call("@load", { source: "1" })).error?.code, "invalidInput");
  await instance.close();
});

Deno.test("a script's error keeps a fault's code and no other", async () => {
  const { instance } = await load(
    `globalThis.__tools = {
      missing: () => { throw Object.assign(new Error('Cannot find "a": there is no such key'), { code: "notFound" }) },
      odd: async () => { throw Object.assign(new Error("x"), { code: "ENOENT" }) },
      passed: (args, remit) => remit.fs.read({ path: "a" }),
      later: () => { setTimeout(() => { throw new Error("in a timer") }, 5); return new Promise((done) => setTimeout(done, 9, 7)) },
      never: () => new Promise(() => {}),
    }`,
    (fn) => {
      if (fn === "log") return null;
      throw Object.assign(new Error('Cannot read "a": it was not granted'), { code: "refused" });
    },
  );
  equal(
    JSON.stringify((await instance.call("missing", {})).error),
    JSON.stringify({ code: "notFound", message: 'Cannot find "a": there is no such key' }),
  );
  match(
    JSON.stringify((await instance.call("odd", {})).error),
    /^\{"code":"upstream","message":"Cannot finish: Error: x \[ENOENT\]/,
  );
  equal((await instance.call("passed", {})).error?.code, "refused");
  equal((await instance.call("later", {})).value, 7);
  match(instance.logs()[0] ?? "", /^error: a timer failed: Error: in a timer/);
  match((await instance.call("never", {})).error?.message ?? "", /never settles/);
  equal((await instance.call("later", {})).value, 7);
  await instance.close();
});

Deno.test("a script that does not load says why", async () => {
  match(
    (await load("globalThis.__tools = {")).loaded.error?.message ?? "",
    /line 1, column \d+: SyntaxError/,
  );
  equal(
    (await load("throw Object.assign(new Error('Cannot start'), { code: 'unavailable' })")).loaded
      .error?.code,
    "unavailable",
  );
  match((await load("1")).loaded.error?.message ?? "", /does not export `tools`/);
  match(
    (await load("globalThis.__tools = []")).loaded.error?.message ?? "",
    /does not export `tools`/,
  );
});

Deno.test("yaml and diff run in the engine", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(
    `${folder}/tool.ts`,
    `import { parse, stringify } from "yaml";
    import { createPatch } from "diff";
    export const tools = {
      yaml: ({ text }: { text: string }) => ({ value: parse(text), again: stringify(parse(text)) }),
      diff: ({ a, b }: { a: string; b: string }) => createPatch("f", a, b),
    };`,
  );
  const { instance, loaded } = await load(await bundleScript(folder));
  equal(loaded.ok, true, JSON.stringify(loaded));
  equal(
    JSON.stringify((await instance.call("yaml", { text: "a: [1, 0x10]\nb: &x é\nc: *x\n" })).value),
    JSON.stringify({
      value: { a: [1, 16], b: "é", c: "é" },
      again: "a:\n  - 1\n  - 16\nb: é\nc: é\n",
    }),
  );
  match(String((await instance.call("diff", { a: "1\n2\n", b: "1\n3\n" })).value), /-2\n\+3/);
  match((await instance.call("yaml", { text: "a: [" })).error?.message ?? "", /YAMLParseError/);
  await instance.close();
  await Deno.remove(folder, { recursive: true });
});
