import assert from "node:assert/strict";
import { Outcome } from "../../contracts/tool/mod.ts";
import { parseScenario } from "../../models/scripted/mod.ts";
import { type Machine, onMachine } from "../../tests/fake/remit.ts";
import { openTerminal } from "../../tests/fake/terminal.ts";
import { needs } from "../../tests/needs.ts";
import { EXIT_OF_OUTCOME, playOf } from "./call_command.ts";

const HOME = new URL("../../", import.meta.url).pathname;

async function made(machine: Machine, lang: string, name: string): Promise<void> {
  const done = await machine.remit(["tool", "new", name, "--lang", lang]);
  assert.equal(done.code, 0, done.stderr);
}

Deno.test("the play of one call is a scenario, and braces in arguments are no template", () => {
  const args = { text: "{{ system }} {{{", list: ["{{ tool.1 }}"], n: 1 };
  const [call] = parseScenario(playOf("echo", args), "terminal").turns[1]?.calls ?? [];
  assert.deepEqual(call?.args, {
    text: '{{ "{{" }} system }} {{ "{{" }}{',
    list: ['{{ "{{" }} tool.1 }}'],
    n: 1,
  });
  for (const outcome of Outcome.options) {
    assert.equal(EXIT_OF_OUTCOME[outcome] === 0, outcome === "ok", outcome);
  }
});

Deno.test("alice calls tools from her terminal: through the gate, with the exit code of what came of it", async () => {
  await onMachine(async (machine) => {
    await machine.write("desk/a.txt", "one two {{ three\n");
    const call = (...words: string[]) => machine.remit(["tool", "call", ...words]);
    const mount = ["--mount", "desk=desk"];

    const read = await call("file_read", '{"path":"desk/a.txt"}', ...mount);
    assert.equal(read.code, 0, read.stderr);
    assert.equal(read.stdout, "one two {{ three\n");
    assert.equal((await call("no_such_tool", "{}")).code, 2);
    assert.equal((await call("file_read", '{"pth":1}')).code, 2);
    assert.equal((await call("file_read", "[1]")).code, 2);
    assert.equal((await call("file_read", '{"path":"desk/none"}', ...mount)).code, 1);
    const refused = await call("http_fetch", '{"url":"https://example.org/"}');
    assert.equal(refused.code, 64);
    assert.equal(refused.stdout, "");
    assert.match(refused.stderr, /refusedByPolicy: .*network forbidden until granted/);

    // What needs a person waits for one, like any other task.
    const write = '{"path":"desk/new.txt","content":"hello"}';
    const staged = await call("file_write", write, ...mount);
    assert.equal(staged.code, 75, staged.stderr);
    await assert.rejects(machine.read("desk/new.txt"), Deno.errors.NotFound);
    const question = /answer (q[0-9a-z]{12}) allow/.exec(staged.stderr)?.[1] ?? "";
    assert.equal((await machine.remit(["answer", question, "allow"])).code, 0);
    assert.equal(await machine.read("desk/new.txt"), "hello");

    // And it is on record, with a receipt.
    const told = await machine.json(["tool", "call", "file_list", '{"path":"desk"}', ...mount]) as {
      readonly outcome: string;
      readonly content: string;
      readonly receipts: readonly unknown[];
    };
    assert.equal(told.outcome, "ok");
    assert.match(told.content, /new\.txt/);
    assert.equal(told.receipts.length, 1);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});

Deno.test("alice writes a tool, tests it, adds it and calls it; changed on disk, it is no tool any more", async () => {
  await onMachine(async (machine) => {
    await made(machine, "ts", "word_count");
    const tested = await machine.remit(["tool", "test", "word_count"]);
    assert.equal(tested.code, 0, tested.stdout + tested.stderr);
    const unasked = await machine.remit(["tool", "add", "word_count"]);
    assert.equal(unasked.code, 64);
    assert.equal((await machine.remit(["tool", "add", "word_count", "--yes"])).code, 0);

    await machine.write("desk/a.txt", "so much depends\nupon\n");
    await machine.write("other/b.txt", "a secret\n");
    const call = (path: string) =>
      machine.remit([
        ...["tool", "call", "word_count_words", JSON.stringify({ path })],
        ...["--mount", "desk=desk:ro"],
      ]);
    const counted = await call("desk/a.txt");
    assert.equal(counted.code, 0, counted.stderr);
    // The value, and behind it what the tool logged.
    const [value = ""] = /^\{[^}]*\}/.exec(counted.stdout) ?? [];
    assert.deepEqual(JSON.parse(value), { words: 4, lines: 2, characters: 21 });
    assert.match(counted.stdout, /read 21 bytes/);
    assert.notEqual((await call("other/b.txt")).code, 0);

    const code = `${machine.state}/person/tools/word_count/plugin.js`;
    await Deno.writeTextFile(code, `${await Deno.readTextFile(code)}\n// changed\n`);
    const changed = await call("desk/a.txt");
    assert.equal(changed.code, 2);
    assert.match(changed.stderr, /Cannot use plugin "word_count": its code was changed/);
    assert.match(changed.stderr, /unknownTool/);
  });
});

Deno.test("a plugin in C, from Debian's clang, is added as it is and gets nothing of the machine (long)", async () => {
  if (!needs("clang")) return;
  await onMachine(async (machine) => {
    const built = await new Deno.Command("clang", {
      args: [
        ...["--target=wasm32-wasi", "-O2", "-mexec-model=reactor"],
        ...["-o", `${machine.dir}/shout.wasm`, `${HOME}tools-wasm/sdk/c/shout.c`],
      ],
    }).output();
    assert.ok(built.success, new TextDecoder().decode(built.stderr));
    const added = await machine.remit(["tool", "add", "shout.wasm", "--yes"]);
    assert.equal(added.code, 0, added.stderr);
    assert.match(added.stderr, /stubs that grant nothing/);
    const called = await machine.remit(["tool", "call", "shout", '{"input":"hello"}']);
    assert.equal(called.code, 0, called.stderr);
    assert.equal(called.stdout, "HELLO!\n");
  });
});

Deno.test("a secret typed at a terminal is not shown there, and lies nowhere in the clear", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    const words = [
      "secret",
      "set",
      "tracker",
      "--origin",
      "https://api.example.org",
      "--header",
      "x-key",
    ];
    const terminal = openTerminal(machine.command(words), { env: machine.env, cwd: machine.dir });
    try {
      await terminal.shows("value (not shown)");
      await terminal.type("correct-horse-battery\n");
      assert.equal(await terminal.ended(), 0);
      assert.doesNotMatch(terminal.screen(), /horse/);
    } finally {
      await terminal.close();
    }
    const piped = await machine.remit(
      ["secret", "set", "other", "--origin", "https://api.example.org", "--header", "x-key"],
      "battery-staple\n",
    );
    assert.equal(piped.code, 0, piped.stderr);
    const list = await machine.remit(["secret", "list"]);
    assert.match(list.stdout, /tracker[\s\S]*other|other[\s\S]*tracker/);
    // A kernel is started with them, and keeps them to itself.
    assert.equal((await machine.remit(["tool", "call", "no_such_tool", "{}"])).code, 2);
    const found = await new Deno.Command("grep", {
      args: ["-rlE", "correct-horse|battery-staple", machine.state],
      stdout: "piped",
    }).output();
    assert.equal(new TextDecoder().decode(found.stdout), "");
  });
});

Deno.test("a tool uses alice's secret and never sees it: the service does, an echo of it does not come back", async () => {
  await onMachine(async (machine) => {
    const seen: (string | null)[] = [];
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => undefined },
      (request) => {
        seen.push(request.headers.get("x-key"));
        return Response.json({ echo: request.headers.get("x-key") });
      },
    );
    const origin = `http://127.0.0.1:${server.addr.port}`;
    try {
      await made(machine, "ts", "api");
      await machine.write(
        "api/tool.yaml",
        [
          "name: api",
          "version: 0.1.0",
          "licence: MIT",
          "engine: script",
          "memoryPages: 512",
          "hostFunctions: [http.fetch, secret.use]",
          "tools:",
          "  - name: api_get",
          "    description: Gets a page.",
          "    parameters: { type: object, properties: { url: { type: string } } }",
          "    fetches: url",
        ].join("\n"),
      );
      await machine.write(
        "api/tool.ts",
        `import type { Tools } from "./remit.ts";
        export const tools: Tools = {
          api_get: async ({ url }: { readonly url: string }, remit) => {
            const { handle } = await remit.secret.use({ name: "demo" });
            return await remit.http.fetch({ url, headers: { "x-key": handle } });
          },
        };`,
      );
      const added = await machine.remit(["tool", "add", "api", "--yes"]);
      assert.equal(added.code, 0, added.stderr);
      const words = ["secret", "set", "demo", "--origin", origin, "--header", "x-key"];
      assert.equal((await machine.remit(words, "correct-horse-battery\n")).code, 0);
      const call = () =>
        machine.remit(["tool", "call", "api_get", JSON.stringify({ url: `${origin}/a` })]);
      assert.equal((await call()).code, 64, "nobody granted the network");
      await machine.write(
        "remit.yaml",
        [
          "version: 1",
          `rules: [{ effect: outboundRead, destination: "${origin}", mode: auto }]`,
          `clearance: { "${origin}": internal }`,
        ].join("\n"),
      );
      assert.equal((await machine.remit(["trust"])).code, 0);
      const called = await call();
      assert.equal(called.code, 0, called.stderr);
      assert.deepEqual(seen, ["correct-horse-battery"]);
      assert.match(called.stdout, /redacted/);
      assert.doesNotMatch(called.stdout + called.stderr, /horse/);
      // Forgotten, it is no handle any more.
      assert.equal((await machine.remit(["secret", "remove", "demo"])).code, 0);
      assert.notEqual((await call()).code, 0);
      assert.equal(seen.length, 1);
    } finally {
      await server.shutdown();
    }
  });
});
