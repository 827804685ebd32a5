import assert from "node:assert/strict";
import { onMachine } from "../../tests/fake/remit.ts";

Deno.test("a tool that this task cannot have says what would give it", async () => {
  await onMachine(async (machine) => {
    const said = async (tool: string, ...words: string[]): Promise<string> => {
      const called = await machine.remit(["tool", "call", tool, "{}", ...words]);
      assert.notEqual(called.code, 0, tool);
      return called.stderr;
    };
    assert.match(await said("process_start"), /unknownTool: .*\n.*commands: .*session: true/);
    assert.match(await said("wiki_search"), /\n {2}--wiki FOLDER/);
    assert.match(await said("browser_screenshot"), /browser: \{ engine: chromium \}/);
    assert.match(await said("no_such_tool"), /tool list .*and .*mcp list .*say what there is/);
    assert.match(await said("file_list"), /there is no mount\n {2}--mount NAME=DIR/);
    const read = await machine.remit(["tool", "call", "file_read", '{"path":"desk/a"}']);
    assert.match(read.stderr, /\(there are: none\)\n {2}--mount NAME=DIR/);
    assert.match(await said("patch_apply", "--mount", "desk=."), /nothing is staged\n/);
  });
});

Deno.test("a tool that goes on from an earlier call says how to make both in one task, and that works", async () => {
  await onMachine(async (machine) => {
    const mount = ["--mount", "desk=desk"];
    await machine.write("desk/a.txt", "a\n");
    const alone = await machine.remit(["tool", "call", "patch_apply", "{}", ...mount]);
    assert.equal(alone.code, 2);
    const told = /echo '(.*)' \| \S+ tool call exec -/.exec(alone.stderr)?.[1] ?? "{}";
    const { code } = JSON.parse(told) as { readonly code: string };
    const filled = code.replace("{…}", '{path: "desk/a.txt", content: "b\\n"}').replace(
      "{…}",
      "{}",
    );
    await machine.write(
      "answers.json",
      JSON.stringify({ answers: [{ tool: "patch_apply", answer: "allow" }] }),
    );
    const both = await machine.remit(
      ["tool", "call", "exec", "-", ...mount, "--answers", "answers.json"],
      JSON.stringify({ code: filled }),
    );
    assert.equal(both.code, 0, both.stderr);
    assert.equal(await machine.read("desk/a.txt"), "b\n");
  });
});

Deno.test("what an agent has and a single call has not is said, and not answered with nothing", async () => {
  await onMachine(async (machine) => {
    await machine.remit(["tool", "new", "echo"]);
    const yaml = await machine.read("echo/tool.yaml");
    await machine.write(
      "echo/tool.yaml",
      yaml.replace(/hostFunctions: .*/, "hostFunctions: [model.complete, memory.query]")
        .replace("required: [path]", "required: []"),
    );
    await machine.write(
      "echo/tool.ts",
      "export const tools = { echo_words: async ({ path }: any, remit: any) => path === 'm'" +
        " ? await remit.model.complete({ prompt: 'hi' }) : await remit.memory.query({ query: 'x' }) };\n",
    );
    const added = await machine.remit(["tool", "add", "echo", "--yes"]);
    assert.equal(added.code, 0, added.stderr);
    const call = (args: string, ...more: string[]) =>
      machine.remit(["tool", "call", "echo_words", args, ...more]);
    const mount = ["--mount", "m=.:ro"];
    assert.match((await call('{"path":"m"}', ...mount)).stderr, /a single call .* has no model/);
    assert.match((await call("{}")).stderr, /run it with --wiki FOLDER/);
    assert.equal((await machine.remit(["wiki", "init", "wiki"])).code, 0);
    const asked = await call("{}", "--wiki", "wiki");
    assert.equal(asked.code, 0, asked.stderr);
    assert.deepEqual((JSON.parse(asked.stdout) as { readonly hits: unknown }).hits, []);
  });
});
