import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PluginManifest } from "../../contracts/tool/mod.ts";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
import { realPlugins } from "../_fixture/plugins.ts";
import type { Interrupts } from "../powers.ts";
import { checkSignature } from "../../tools-wasm/kit/signature.ts";

type FakePowers = ReturnType<typeof fakePowers>;

const work = (powers: FakePowers, ...rest: string[]): string => join(powers.root, "work", ...rest);
const edit = (path: string, change: (text: string) => string): void =>
  Deno.writeTextFileSync(path, change(Deno.readTextFileSync(path)));
const said = (powers: FakePowers): string => powers.screen.outs.join("");

async function made(lang: string, name: string): Promise<FakePowers> {
  const first = fakePowers();
  const powers = {
    ...first,
    // A script runs in Remit's own engine.
    plugins: realPlugins(first.environment.home, { own: lang !== "ts" }),
  };
  assert.equal(await runCommandLine(["tool", "new", name, "--lang", lang], powers), 0);
  powers.screen.outs.length = 0;
  return powers;
}

Deno.test("alice makes an AssemblyScript tool: it passes its own cases as it is, under its own name (long)", async () => {
  const powers = await made("as", "line_count");
  assert.equal(await runCommandLine(["tool", "test", "line_count"], powers), 0);
  assert.match(said(powers), /^ok {4}counts the lines of a file[\s\S]*3 passed, 0 failed\n$/);
  for (const file of ["tool.yaml", "tool_test.yaml", "assembly/index.ts"]) {
    assert.doesNotMatch(Deno.readTextFileSync(work(powers, "line_count", file)), /sample/, file);
  }
  assert.equal(await runCommandLine(["tool", "new", "line_count"], powers), 1);
  assert.equal(await runCommandLine(["tool", "new", "Line-Count"], powers), 2);
});

Deno.test("alice makes a TypeScript tool: it passes its own cases as it is, without a compiler", async () => {
  const powers = await made("ts", "word_count");
  assert.equal(
    await runCommandLine(["tool", "test", "word_count", "--json"], powers),
    0,
    said(powers),
  );
  const { passed, cases } = JSON.parse(said(powers));
  assert.equal(passed, true);
  assert.equal(cases.length, 3);
  // Its types lie beside it.
  assert.match(
    Deno.readTextFileSync(work(powers, "word_count", "tool.ts")),
    /from "\.\/remit\.ts"/,
  );
  assert.ok(Deno.statSync(work(powers, "word_count", "remit.ts")).isFile);
});

Deno.test("a case that comes out otherwise fails the command, and says what came", async () => {
  const powers = await made("as", "line_count");
  edit(
    work(powers, "line_count", "tool_test.yaml"),
    (text) => text.replace("value: { lines: 2 }", "value: { lines: 3 }"),
  );
  assert.equal(await runCommandLine(["tool", "test", "line_count"], powers), 1);
  assert.match(
    said(powers),
    /FAIL {2}counts the lines[\s\S]*it gave \{"lines":2\}, not \{"lines":3\}/,
  );
  assert.match(said(powers), /2 passed, 1 failed/);
});

Deno.test("a plugin that spins is ended at its deadline, and the next case has a fresh host", async () => {
  const powers = await made("as", "line_count");
  edit(
    work(powers, "line_count", "assembly/index.ts"),
    (text) =>
      text.replace(
        "let count: i64 = 0;",
        "let count: i64 = 0; while (path.text == 'desk/spin') count++;",
      ),
  );
  edit(work(powers, "line_count", "tool.yaml"), (text) => text.replace("5000", "300"));
  Deno.writeTextFileSync(
    work(powers, "line_count", "tool_test.yaml"),
    [
      "cases:",
      "  - { tool: line_count_lines, args: { path: desk/spin }, expect: { error: timedOut } }",
      "  - tool: line_count_lines",
      "    args: { path: desk/a }",
      '    files: { desk/a: "one" }',
      "    expect: { value: { lines: 1 } }",
    ].join("\n"),
  );
  assert.equal(await runCommandLine(["tool", "test", "line_count"], powers), 0, said(powers));
});

Deno.test("a plugin under test may ask for what its tool.yaml names, and for nothing else", async () => {
  const powers = await made("as", "line_count");
  edit(work(powers, "line_count", "tool.yaml"), (text) => text.replace("[fs.read]", "[fs.list]"));
  Deno.writeTextFileSync(
    work(powers, "line_count", "tool_test.yaml"),
    [
      "cases:",
      "  - tool: line_count_lines",
      "    args: { path: desk/a }",
      '    files: { desk/a: "one" }',
      "    expect: { error: refused, message: fs.read }",
    ].join("\n"),
  );
  assert.equal(await runCommandLine(["tool", "test", "line_count"], powers), 0, said(powers));
});

Deno.test("what does not compile says where, and what has no cases says so", async () => {
  const powers = await made("as", "line_count");
  edit(
    work(powers, "line_count", "assembly/index.ts"),
    (text) => text.replace("count++;", "count+;"),
  );
  assert.equal(await runCommandLine(["tool", "test", "line_count"], powers), 1);
  assert.match(powers.screen.lines.join("\n"), /assembly\/index\.ts/);
  Deno.removeSync(work(powers, "line_count", "tool_test.yaml"));
  assert.equal(await runCommandLine(["tool", "test", "line_count"], powers), 2);
  assert.match(powers.screen.lines.join("\n"), /has no tool_test\.yaml/);
});

Deno.test("alice's types do not fit: test and build say where, and run nothing", async () => {
  const powers = await made("ts", "line_count");
  edit(
    work(powers, "line_count", "tool.ts"),
    (text) => `${text}\nconst late: string = 5;\nvoid late;\n`,
  );
  for (const verb of ["test", "build"]) {
    assert.equal(await runCommandLine(["tool", verb, "line_count"], powers), 2, verb);
    const lines = powers.screen.lines.splice(0).join("\n");
    assert.match(lines, /wrong types/);
    assert.match(lines, /Type 'number' is not assignable to type 'string'/);
    assert.match(lines, /at tool\.ts:\d+/);
  }
  assert.ok(!existsSync(work(powers, "line_count", "build")));
});

Deno.test("bob builds twice and gets the same hash; signs; and what was signed is added as it is (long)", async () => {
  const powers = await made("as", "line_count");
  const build = async (): Promise<string> => {
    powers.screen.outs.length = 0;
    assert.equal(await runCommandLine(["tool", "build", "line_count", "--json"], powers), 0);
    return JSON.parse(said(powers)).sha256;
  };
  const first = await build();
  assert.equal(await build(), first);
  const pem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
  Deno.writeTextFileSync(work(powers, "my.pem"), String(pem));
  powers.screen.outs.length = 0;
  const sign = ["tool", "sign", "line_count", "--key", "my.pem", "--json"];
  assert.equal(await runCommandLine(sign, powers), 0);
  const { key, folder, sha256 } = JSON.parse(said(powers));
  assert.equal(sha256, first);
  const manifest = PluginManifest.parse(
    JSON.parse(Deno.readTextFileSync(join(folder, "line_count.json"))),
  );
  assert.equal(checkSignature(manifest, [key]), "known");
  assert.equal(await runCommandLine(["tool", "add", "line_count/build", "--yes"], powers), 0);
  Deno.writeTextFileSync(work(powers, "no.pem"), "hunter2");
  const wrong = ["tool", "sign", "line_count", "--key", "no.pem"];
  assert.equal(await runCommandLine(wrong, powers), 2);
  assert.doesNotMatch(powers.screen.lines.join("\n"), /hunter2/);
});

Deno.test("a folder that brings a build program of its own is not built: it would run with all rights", async () => {
  const powers = await made("as", "line_count");
  Deno.removeSync(work(powers, "line_count", "assembly"), { recursive: true });
  Deno.writeTextFileSync(work(powers, "line_count", "build.ts"), "Deno.exit(7);");
  assert.equal(await runCommandLine(["tool", "build", "line_count"], powers), 64);
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
  const powers = {
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
  assert.equal(await runCommandLine(["tool", "dev", "line_count"], powers), 0);
  assert.equal(rounds.length, 3);
  assert.match(rounds[0] ?? "", /3 passed, 0 failed/);
  assert.match(rounds[1] ?? "", /FAIL[\s\S]*index\.ts/);
  assert.match(rounds[2] ?? "", /it gave \{"lines":4\}, not \{"lines":2\}/);
});
