import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { ToolName } from "../../contracts/authority/mod.ts";
import { fakeKeyboard, fakePowers, runCommandLine } from "../_fixture/world.ts";
import { OWN } from "../_fixture/plugins.ts";
import { placesOf } from "../../launch/disk/places.ts";
import { choosePlugins } from "../../tools-wasm/kit/choice.ts";
import { RESERVED_TOOLS } from "../../tools-wasm/kit/reserved.ts";
import { checkSignature, signManifest } from "../../tools-wasm/kit/signature.ts";
import { installedPlugins } from "../../tools-wasm/kit/store.ts";

/**
 * A module as a C kit emits it: an export `sayOk` that writes to standard output by WASI and answers `ok`, a memory
 * without a maximum.
 */
const KIT_MODULE =
  "AGFzbQEAAAABHAVgBH9/f38Bf2ABfgF+YAJ+fwBgAn5+AGAAAX8CcwQWd2FzaV9zbmFwc2hvdF9wcmV2aWV3MQhmZF93cml0ZQAAD2V4dGlzbTpob3N0L2VudgVhbGxvYwABD2V4dGlzbTpob3N0L2VudghzdG9yZV91OAACD2V4dGlzbTpob3N0L2VudgpvdXRwdXRfc2V0AAMDAgEEBQMBAAEHCQEFc2F5T2sABAowAS4BAX5BAUEAQQBBABAAGkICEAEhACAAQe8AEAIgAEIBfEHrABACIABCAhADQQAL";
/** `run` that gives 0, and an import of Extism's `http_request`. */
const HTTP_MODULE =
  "AGFzbQEAAAABCwJgAn5+AX5gAAF/AiABD2V4dGlzbTpob3N0L2VudgxodHRwX3JlcXVlc3QAAAMCAQEFBAEBAQIHBwEDcnVuAAEKBgEEAEEACw==";
/** `run` that gives 0, one page of memory, two at most. */
const PLAIN_MODULE = "AGFzbQEAAAABBQFgAAF/AwIBAAUEAQEBAgcHAQNydW4AAAoGAQQAQQAL";

type FakePowers = ReturnType<typeof fakePowers>;

function moduleIn(powers: FakePowers, name: string, base64: string): string {
  const path = join(powers.root, "work", name);
  Deno.writeFileSync(path, Uint8Array.fromBase64(base64));
  return name;
}

const refusals: string[] = [];
const installed = (powers: FakePowers, toolKeys: readonly string[] = []) =>
  installedPlugins(powers.disk, placesOf(powers.environment, undefined), {
    toolKeys,
    onRefused: (text) => void refusals.push(text),
  });
const shown = (powers: FakePowers): string =>
  [...powers.screen.lines, ...powers.screen.outs].join("\n");
const storeOf = (powers: FakePowers, ...rest: string[]): string =>
  join(placesOf(powers.environment, undefined).person, "tools", ...rest);

Deno.test("alice adds a module of an ordinary kit: made to fit, shown, pinned, private", async () => {
  const keyboard = fakeKeyboard(["yes"]);
  const powers = fakePowers({ keyboard });
  moduleIn(powers, "say.wasm", KIT_MODULE);
  assert.equal(await runCommandLine(["tool", "inspect", "say.wasm"], powers), 0);
  assert.match(shown(powers), /NOT be let in[\s\S]*fd_write[\s\S]*no maximum/);
  assert.equal(await runCommandLine(["tool", "add", "say.wasm"], powers), 0);
  assert.match(shown(powers), /maximum of 256 pages was written in \(it declared none\)/);
  assert.match(
    shown(powers),
    /stubs that grant nothing stand for\s+wasi_snapshot_preview1\.fd_write/,
  );
  assert.match(keyboard.prompts.join(""), /y, or Enter for no/);
  const [plugin] = installed(powers);
  assert.ok(plugin !== undefined);
  assert.equal(plugin.manifest.name, "say");
  assert.deepEqual(plugin.manifest.tools.map(({ name, export: own }) => [name, own]), [
    ["say_ok", "sayOk"],
  ]);
  assert.equal(plugin.signed, false);
  for (const name of ["pins.json", "say/manifest.json", "say/plugin.wasm"]) {
    assert.equal((Deno.statSync(storeOf(powers, name)).mode ?? 0) & 0o777, 0o600, name);
  }
  assert.equal(await runCommandLine(["tool", "inspect", "say"], powers), 0);
  assert.equal(await runCommandLine(["tool", "inspect", "say_ok"], powers), 0);
  assert.match(shown(powers), /tool +say_ok, effect read\n +of +plugin say\n/);
  assert.equal(await runCommandLine(["tool", "list"], powers), 0);
  assert.match(
    shown(powers),
    /own +1\.0\.0 +Remit +read +own_tool\nsay +0\.0\.0 +added +read +say_ok\nfiles +Remit +read +file_read/,
  );
});

Deno.test("each tool says what it takes, of a plugin or not, and how to come by it", async () => {
  const powers = fakePowers();
  assert.equal(await runCommandLine(["tool", "inspect", "file_read"], powers), 0);
  const told = shown(powers);
  assert.match(told, /tool +file_read, effect read\n/);
  assert.match(told, /path: string, required, at most 9 characters; MOUNT\/relative\.\n/);
  assert.match(told, /from: integer, 1 to 5\n/);
  assert.match(told, /how: "a" or "b"\n/);
  assert.match(told, /words: list of string\n/);
  assert.equal(await runCommandLine(["tool", "inspect", "no_such"], powers), 2);
});

Deno.test("nobody adds a plugin unasked: without a terminal, without a yes, through a dead gate", async () => {
  const unattended = fakePowers();
  moduleIn(unattended, "plain.wasm", PLAIN_MODULE);
  assert.equal(await runCommandLine(["tool", "add", "plain.wasm"], unattended), 64);
  assert.match(shown(unattended), /add --yes/);
  const doubting = fakePowers({ keyboard: fakeKeyboard([""]) });
  moduleIn(doubting, "plain.wasm", PLAIN_MODULE);
  assert.equal(await runCommandLine(["tool", "add", "plain.wasm"], doubting), 64);
  const hostile = fakePowers();
  moduleIn(hostile, "http.wasm", HTTP_MODULE);
  assert.equal(await runCommandLine(["tool", "add", "http.wasm", "--yes"], hostile), 64);
  assert.match(
    shown(hostile),
    /the load gate refuses it: it imports "extism:host\/env" "http_request"/,
  );
  for (const powers of [unattended, doubting, hostile]) assert.deepEqual(installed(powers), []);
});

Deno.test("a tool's name is taken once: by Remit's plugins, by what is no plugin, by another plugin", async () => {
  const powers = fakePowers();
  moduleIn(powers, "plain.wasm", PLAIN_MODULE);
  const add = (...words: string[]): Promise<number> =>
    runCommandLine(["tool", "add", "plain.wasm", "--yes", ...words], powers);
  assert.equal(await add("--name", "own"), 1);
  assert.equal(await add("--tool", "own_tool"), 1);
  assert.equal(await add("--tool", "file_read"), 1);
  assert.equal(await add("--tool", "twice", "--tool", "twice"), 1);
  assert.equal(await add("--name", "first", "--tool", "a_tool"), 0);
  assert.equal(await add("--name", "second", "--tool", "a_tool"), 1);
  // Adding it again replaces it.
  assert.equal(await add("--name", "first", "--tool", "a_tool", "--tool", "b_tool"), 0);
  assert.deepEqual(
    installed(powers).map(({ manifest }) => manifest.tools.map(({ name }) => name)),
    [
      ["a_tool", "b_tool"],
    ],
  );
});

Deno.test("mallory changes a plugin on disk: it is left out and named until it is reviewed again", async () => {
  const changes: readonly (readonly [string, (path: string) => void, RegExp])[] = [
    [
      "plain/plugin.wasm",
      (path) => Deno.writeFileSync(path, Uint8Array.of(0), { append: true }),
      /code was changed/,
    ],
    ["plain/plugin.wasm", (path) => Deno.removeSync(path), /code is gone/],
    [
      "plain/manifest.json",
      (path) =>
        Deno.writeTextFileSync(path, Deno.readTextFileSync(path).replace("[]", '["http.fetch"]')),
      /manifest was changed/,
    ],
    ["plain/manifest.json", (path) => Deno.removeSync(path), /manifest is gone/],
  ];
  for (const [name, change, said] of changes) {
    const powers = fakePowers();
    moduleIn(powers, "plain.wasm", PLAIN_MODULE);
    assert.equal(await runCommandLine(["tool", "add", "plain.wasm", "--yes"], powers), 0);
    change(storeOf(powers, name));
    refusals.length = 0;
    assert.deepEqual(installed(powers), []);
    assert.match(refusals.join("\n"), said);
    assert.match(refusals.join("\n"), /remit tool add/);
    assert.equal(await runCommandLine(["tool", "inspect", "plain"], powers), 64);
    assert.equal(await runCommandLine(["tool", "add", "plain.wasm", "--yes"], powers), 0);
    assert.equal(installed(powers).length, 1);
  }
});

Deno.test("damaged or readable pins stop everything, rather than nothing being pinned", async () => {
  const powers = fakePowers();
  moduleIn(powers, "plain.wasm", PLAIN_MODULE);
  assert.equal(await runCommandLine(["tool", "add", "plain.wasm", "--yes"], powers), 0);
  Deno.chmodSync(storeOf(powers, "pins.json"), 0o644);
  assert.throws(() => installed(powers), /make it 0600/);
  Deno.chmodSync(storeOf(powers, "pins.json"), 0o600);
  Deno.writeTextFileSync(storeOf(powers, "pins.json"), '{"version":1,"tools":{"../x":"a"}}');
  assert.throws(() => installed(powers), /it is damaged/);
});

Deno.test("a removed plugin is gone from the pins and from the disk", async () => {
  const powers = fakePowers();
  moduleIn(powers, "plain.wasm", PLAIN_MODULE);
  assert.equal(await runCommandLine(["tool", "add", "plain.wasm", "--yes"], powers), 0);
  assert.equal(await runCommandLine(["tool", "remove", "plain"], powers), 0);
  assert.equal(await runCommandLine(["tool", "remove", "plain"], powers), 2);
  assert.equal(await runCommandLine(["tool", "remove", "../person"], powers), 2);
  assert.deepEqual(powers.disk.list(storeOf(powers)), ["pins.json"]);
});

Deno.test("a module's tool.yaml beside it is its manifest, and limits its memory", async () => {
  const powers = fakePowers();
  const folder = join(powers.root, "work", "notes");
  Deno.mkdirSync(folder);
  Deno.writeFileSync(join(folder, "notes.wasm"), Uint8Array.fromBase64(KIT_MODULE));
  Deno.writeTextFileSync(
    join(folder, "tool.yaml"),
    [
      "name: notes",
      "version: 1.2.3",
      "licence: MIT",
      "engine: wasm",
      "memoryPages: 7",
      "hostFunctions: [http.fetch]",
      "tools:",
      "  - name: notes_say",
      "    export: sayOk",
      "    description: Says ok.",
      "    parameters: { type: object, properties: { url: { type: string } } }",
      "    fetches: url",
    ].join("\n"),
  );
  assert.equal(await runCommandLine(["tool", "add", "notes", "--yes", "--json"], powers), 0);
  const said = JSON.parse(powers.screen.outs.join(""));
  assert.equal(said.version, "1.2.3");
  assert.deepEqual(said.memories, [{ least: 1, most: 7 }]);
  assert.equal(said.tools[0].effect, "outboundRead");
  assert.deepEqual(said.loadGate, { passes: true, findings: [] });
});

Deno.test("a signature makes a plugin trusted only while remit.yaml names its key, and a forged one refuses it", async () => {
  const powers = fakePowers();
  const pem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
  moduleIn(powers, "plain.wasm", PLAIN_MODULE);
  assert.equal(await runCommandLine(["tool", "add", "plain.wasm", "--yes"], powers), 0);
  const [plain] = installed(powers);
  assert.ok(plain !== undefined);
  const signed = signManifest(plain.manifest, String(pem));
  const key = signed.signature?.key ?? "";
  assert.equal(checkSignature(plain.manifest, [key]), "none");
  assert.equal(checkSignature(signed, [key]), "known");
  assert.equal(checkSignature(signed, []), "unknown");
  const forged = { ...signed, hostFunctions: ["http.fetch" as const] };
  assert.equal(checkSignature(forged, [key]), "wrong");
  const folder = join(powers.root, "work", "packed");
  Deno.mkdirSync(folder);
  Deno.copyFileSync(plain.file, join(folder, "plain.wasm"));
  Deno.writeTextFileSync(join(folder, "plain.json"), JSON.stringify(forged));
  assert.equal(await runCommandLine(["tool", "add", "packed", "--yes"], powers), 64);
  assert.match(shown(powers), /its signature is wrong/);
  Deno.writeTextFileSync(join(folder, "plain.json"), JSON.stringify(signed));
  assert.equal(await runCommandLine(["tool", "add", "packed", "--yes"], powers), 0);
  assert.deepEqual(installed(powers).map((each) => each.signed), [false]);
  assert.deepEqual(installed(powers, [key]).map((each) => each.signed), [true]);
  // The hash of the manifest is the code's, or it is nothing.
  Deno.writeFileSync(join(folder, "plain.wasm"), Uint8Array.of(1), { append: true });
  assert.equal(await runCommandLine(["tool", "add", "packed", "--yes"], powers), 64);
});

Deno.test("a key that a cloned folder's remit.yaml names is not trusted until the folder is", async () => {
  const powers = fakePowers();
  const key = "a".repeat(64);
  Deno.writeTextFileSync(
    join(powers.root, "work", "remit.yaml"),
    `version: 1\ntoolKeys: ["${key}"]\nmodel: scripted:m.yaml\n`,
  );
  Deno.writeTextFileSync(join(powers.root, "work", "m.yaml"), "scenario: x\n");
  const wish = async (): Promise<readonly string[] | undefined> => {
    await runCommandLine(["grants"], powers);
    return powers.kernels_.wishes.at(-1)?.toolKeys;
  };
  assert.deepEqual(await wish(), []);
  assert.equal(await runCommandLine(["trust"], powers), 0);
  assert.deepEqual(await wish(), [key]);
});

Deno.test("a plugin never takes the name of a tool that only some tasks have", () => {
  const said: string[] = [];
  const [tool] = OWN.tools;
  assert.ok(tool !== undefined);
  const clash = { ...OWN, tools: [{ ...tool, name: ToolName.parse("wiki_search") }] };
  const { plugins } = choosePlugins({
    built: { engine: { sha256: OWN.sha256, file: "/e" }, plugins: [] },
    installed: [{ manifest: clash, file: "/clash", signed: true }],
    reserved: RESERVED_TOOLS,
    onRefused: (text) => void said.push(text),
  });
  assert.deepEqual(plugins, []);
  assert.match(said.join(""), /there is another "wiki_search"/);
});

Deno.test("a plugin whose name Remit took since is left out of the kernel's, and named", () => {
  const said: string[] = [];
  const clash = { ...OWN, name: OWN.name, sha256: OWN.sha256 };
  const chosen = choosePlugins({
    built: {
      engine: { sha256: OWN.sha256, file: "/e" },
      plugins: [{ manifest: OWN, file: "/own" }],
    },
    installed: [{ manifest: clash, file: "/clash", signed: true }],
    reserved: [],
    onRefused: (text) => void said.push(text),
  });
  assert.deepEqual(chosen.plugins.map(({ file, trusted }) => [file, trusted]), [["/own", true]]);
  assert.match(said.join(""), /there is another "own"/);
});
