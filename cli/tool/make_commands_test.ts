import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PluginManifest } from "../../contracts/tool/mod.ts";
import { fakeHands, runCommandLine } from "../_fixture/world.ts";
import { realPlugins } from "../_fixture/plugins.ts";
import type { Interrupts } from "../hands.ts";
import { checkSignature } from "../../tools-wasm/kit/signature.ts";

type FakeHands = ReturnType<typeof fakeHands>;

const work = (hands: FakeHands, ...rest: string[]): string => join(hands.root, "work", ...rest);
const edit = (path: string, change: (text: string) => string): void =>
  Deno.writeTextFileSync(path, change(Deno.readTextFileSync(path)));
const said = (hands: FakeHands): string => hands.screen.outs.join("");

async function made(lang: string, name: string): Promise<FakeHands> {
  const first = fakeHands();
  const hands = {
    ...first,
    // A script runs in Remit's own engine.
    plugins: realPlugins(first.around.home, { own: lang !== "ts" }),
  };
  assert.equal(await runCommandLine(["tool", "new", name, "--lang", lang], hands), 0);
  hands.screen.outs.length = 0;
  return hands;
}

Deno.test("alice makes an AssemblyScript tool: it passes its own cases as it is, under its own name (long)", async () => {
  const hands = await made("as", "line_count");
  assert.equal(await runCommandLine(["tool", "test", "line_count"], hands), 0);
  assert.match(said(hands), /^ok {4}counts the lines of a file[\s\S]*3 passed, 0 failed\n$/);
  for (const file of ["tool.yaml", "tool_test.yaml", "assembly/index.ts"]) {
    assert.doesNotMatch(Deno.readTextFileSync(work(hands, "line_count", file)), /sample/, file);
  }
  assert.equal(await runCommandLine(["tool", "new", "line_count"], hands), 1);
  assert.equal(await runCommandLine(["tool", "new", "Line-Count"], hands), 2);
});

Deno.test("alice makes a TypeScript tool: it passes its own cases as it is, without a compiler", async () => {
  const hands = await made("ts", "word_count");
  assert.equal(
    await runCommandLine(["tool", "test", "word_count", "--json"], hands),
    0,
    said(hands),
  );
  const { passed, cases } = JSON.parse(said(hands));
  assert.equal(passed, true);
  assert.equal(cases.length, 3);
  // Its types lie beside it.
  assert.match(Deno.readTextFileSync(work(hands, "word_count", "tool.ts")), /from "\.\/remit\.ts"/);
  assert.ok(Deno.statSync(work(hands, "word_count", "remit.ts")).isFile);
});

Deno.test("a case that comes out otherwise fails the command, and says what came", async () => {
  const hands = await made("as", "line_count");
  edit(
    work(hands, "line_count", "tool_test.yaml"),
    (text) => text.replace("value: { lines: 2 }", "value: { lines: 3 }"),
  );
  assert.equal(await runCommandLine(["tool", "test", "line_count"], hands), 1);
  assert.match(
    said(hands),
    /FAIL {2}counts the lines[\s\S]*it gave \{"lines":2\}, not \{"lines":3\}/,
  );
  assert.match(said(hands), /2 passed, 1 failed/);
});

Deno.test("a plugin that spins is ended at its deadline, and the next case has a fresh host", async () => {
  const hands = await made("as", "line_count");
  edit(
    work(hands, "line_count", "assembly/index.ts"),
    (text) =>
      text.replace(
        "let count: i64 = 0;",
        "let count: i64 = 0; while (path.text == 'desk/spin') count++;",
      ),
  );
  edit(work(hands, "line_count", "tool.yaml"), (text) => text.replace("5000", "300"));
  Deno.writeTextFileSync(
    work(hands, "line_count", "tool_test.yaml"),
    [
      "cases:",
      "  - { tool: line_count_lines, args: { path: desk/spin }, expect: { error: timedOut } }",
      "  - tool: line_count_lines",
      "    args: { path: desk/a }",
      '    files: { desk/a: "one" }',
      "    expect: { value: { lines: 1 } }",
    ].join("\n"),
  );
  assert.equal(await runCommandLine(["tool", "test", "line_count"], hands), 0, said(hands));
});

Deno.test("a plugin under test may ask for what its tool.yaml names, and for nothing else", async () => {
  const hands = await made("as", "line_count");
  edit(work(hands, "line_count", "tool.yaml"), (text) => text.replace("[fs.read]", "[fs.list]"));
  Deno.writeTextFileSync(
    work(hands, "line_count", "tool_test.yaml"),
    [
      "cases:",
      "  - tool: line_count_lines",
      "    args: { path: desk/a }",
      '    files: { desk/a: "one" }',
      "    expect: { error: refused, message: fs.read }",
    ].join("\n"),
  );
  assert.equal(await runCommandLine(["tool", "test", "line_count"], hands), 0, said(hands));
});

Deno.test("what does not compile says where, and what has no cases says so", async () => {
  const hands = await made("as", "line_count");
  edit(
    work(hands, "line_count", "assembly/index.ts"),
    (text) => text.replace("count++;", "count+;"),
  );
  assert.equal(await runCommandLine(["tool", "test", "line_count"], hands), 1);
  assert.match(hands.screen.lines.join("\n"), /assembly\/index\.ts/);
  Deno.removeSync(work(hands, "line_count", "tool_test.yaml"));
  assert.equal(await runCommandLine(["tool", "test", "line_count"], hands), 2);
  assert.match(hands.screen.lines.join("\n"), /has no tool_test\.yaml/);
});

Deno.test("alice's types do not fit: test and build say where, and run nothing", async () => {
  const hands = await made("ts", "line_count");
  edit(
    work(hands, "line_count", "tool.ts"),
    (text) => `${text}\nconst late: string = 5;\nvoid late;\n`,
  );
  for (const verb of ["test", "build"]) {
    assert.equal(await runCommandLine(["tool", verb, "line_count"], hands), 2, verb);
    const lines = hands.screen.lines.splice(0).join("\n");
    assert.match(lines, /wrong types/);
    assert.match(lines, /Type 'number' is not assignable to type 'string'/);
    assert.match(lines, /at tool\.ts:\d+/);
  }
  assert.ok(!existsSync(work(hands, "line_count", "build")));
});

Deno.test("bob builds twice and gets the same hash; signs; and what was signed is added as it is (long)", async () => {
  const hands = await made("as", "line_count");
  const build = async (): Promise<string> => {
    hands.screen.outs.length = 0;
    assert.equal(await runCommandLine(["tool", "build", "line_count", "--json"], hands), 0);
    return JSON.parse(said(hands)).sha256;
  };
  const first = await build();
  assert.equal(await build(), first);
  const pem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
  Deno.writeTextFileSync(work(hands, "my.pem"), String(pem));
  hands.screen.outs.length = 0;
  const sign = ["tool", "sign", "line_count", "--key", "my.pem", "--json"];
  assert.equal(await runCommandLine(sign, hands), 0);
  const { key, folder, sha256 } = JSON.parse(said(hands));
  assert.equal(sha256, first);
  const manifest = PluginManifest.parse(
    JSON.parse(Deno.readTextFileSync(join(folder, "line_count.json"))),
  );
  assert.equal(checkSignature(manifest, [key]), "known");
  assert.equal(await runCommandLine(["tool", "add", "line_count/build", "--yes"], hands), 0);
  Deno.writeTextFileSync(work(hands, "no.pem"), "hunter2");
  const wrong = ["tool", "sign", "line_count", "--key", "no.pem"];
  assert.equal(await runCommandLine(wrong, hands), 2);
  assert.doesNotMatch(hands.screen.lines.join("\n"), /hunter2/);
});

Deno.test("a folder that brings a build program of its own is not built: it would run with all rights", async () => {
  const hands = await made("as", "line_count");
  Deno.removeSync(work(hands, "line_count", "assembly"), { recursive: true });
  Deno.writeTextFileSync(work(hands, "line_count", "build.ts"), "Deno.exit(7);");
  assert.equal(await runCommandLine(["tool", "build", "line_count"], hands), 64);
});

Deno.test("alice saves a file and the cases run again, also after one that does not build; Ctrl-C ends (long)", async () => {
  const first = await made("as", "line_count");
  const source = work(first, "line_count", "assembly/index.ts");
  let press: (count: number) => void = () => undefined;
  const interrupts: Interrupts = {
    listen(listener) {
      press = listener;
      return () => undefined;
    },
  };
  // Each round ends with a hint: then the next save is made.
  const rounds: string[] = [];
  const saves = [
    (): void => edit(source, (text) => text.replace("count++;", "count+;")),
    (): void => edit(source, (text) => text.replace("count+;", "count += 2;")),
    (): void => press(1),
  ];
  const hands = {
    ...first,
    interrupts,
    screen: {
      ...first.screen,
      hint(text: string): void {
        if (text === "" || !text.startsWith("waiting")) return;
        rounds.push([...first.screen.outs.splice(0), ...first.screen.lines.splice(0)].join("\n"));
        saves.shift()?.();
      },
    },
  };
  assert.equal(await runCommandLine(["tool", "dev", "line_count"], hands), 0);
  assert.equal(rounds.length, 3);
  assert.match(rounds[0] ?? "", /3 passed, 0 failed/);
  assert.match(rounds[1] ?? "", /FAIL[\s\S]*index\.ts/);
  assert.match(rounds[2] ?? "", /it gave \{"lines":4\}, not \{"lines":2\}/);
});
