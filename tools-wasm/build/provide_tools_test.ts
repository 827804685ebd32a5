import {
  deepStrictEqual,
  match,
  notStrictEqual,
  ok,
  rejects,
  strictEqual,
} from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../port/digest.ts";
import { digestTools } from "./plugin_folders_powers.ts";
import { provideTools } from "./mod.ts";

const HOME = new URL("../../", import.meta.url).pathname.replace(/\/$/, "");
const DEMO = `name: demo
version: 1.0.0
licence: MIT
engine: wasm
memoryPages: 32
tools: [{ name: demo_hello, description: Says hello., parameters: { type: object } }]
`;
const HELLO = `import { answer, finish, readCall } from "remit/plugin";
import { Writer } from "remit/writer";
export function run(): i32 {
  if (readCall().op == "demo_hello") answer(new Writer().text("hello"));
  return finish();
}
`;

function copy(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true });
  for (const entry of Deno.readDirSync(from)) {
    const [a, b] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory) copy(a, b);
    else Deno.copyFileSync(a, b);
  }
}

/** A repository of its own, with everything that tools are built of and the plugins that are named. */
function repository(root: string, name: string, plugins: readonly string[]): string {
  const home = join(root, name);
  const parts = ["contracts", "port", "text", "tools-wasm/build", "tools-wasm/sdk"];
  for (const part of [...parts, ...plugins.map((plugin) => `tools-wasm/${plugin}`)]) {
    copy(join(HOME, part), join(home, part));
  }
  for (const file of ["deno.json", "deno.lock"]) {
    Deno.copyFileSync(join(HOME, file), join(home, file));
  }
  return home;
}

function addDemo(home: string, source: string): void {
  const folder = join(home, "tools-wasm/demo");
  Deno.mkdirSync(join(folder, "assembly"), { recursive: true });
  Deno.writeTextFileSync(join(folder, "tool.yaml"), DEMO);
  Deno.writeTextFileSync(join(folder, "assembly/index.ts"), source);
}

async function inFolder(work: (root: string) => Promise<void>): Promise<void> {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-build-" }));
  try {
    await work(root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

const names = (folder: string): string[] =>
  [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("the same sources in two folders give the same bytes, whoever builds first is not asked again (long)", async () => {
  await inFolder(async (root) => {
    const said: string[] = [];
    const options = (name: string) => ({
      home: repository(root, name, ["exec", "patch"]),
      cache: join(root, "cache", name),
      onBuild: (text: string) => said.push(text),
    });
    const [one, other] = [options("one"), options("a longer näme")];
    addDemo(one.home, HELLO);
    addDemo(other.home, HELLO);
    const [first, second] = await Promise.all([provideTools(one), provideTools(other)]);
    const hashes = first.plugins.map(({ manifest }) => [manifest.name, manifest.sha256]);
    deepStrictEqual(second.plugins.map(({ manifest }) => [manifest.name, manifest.sha256]), hashes);
    deepStrictEqual(hashes.map(([name]) => name), ["demo", "exec", "patch"]);
    for (const { manifest, file } of first.plugins) {
      strictEqual(sha256Hex(Deno.readFileSync(file)), manifest.sha256);
      strictEqual(
        new TextDecoder("latin1").decode(Deno.readFileSync(file)).includes(root),
        false,
        file,
      );
    }
    strictEqual(first.engine.file, join(first.folder, "exec.wasm"));
    strictEqual((Deno.statSync(first.folder).mode ?? 0) & 0o777, 0o700);

    ok(said.length > 0);
    said.length = 0;
    deepStrictEqual(await provideTools(one), first);
    deepStrictEqual(said, []);
  });
});

Deno.test("two that build at once both get the tools, and leave one folder (long)", async () => {
  await inFolder(async (root) => {
    const home = repository(root, "home", ["exec"]);
    const cache = join(root, "cache");
    const build = () => provideTools({ home, cache, onBuild: () => undefined });
    const [first, second] = await Promise.all([build(), build()]);
    deepStrictEqual(first, second);
    deepStrictEqual(names(cache), [first.folder.slice(cache.length + 1)]);
  });
});

Deno.test("a plugin that does not compile leaves nothing behind, and says where it is wrong", async () => {
  await inFolder(async (root) => {
    const home = repository(root, "home", ["exec"]);
    const cache = join(root, "cache");
    addDemo(home, HELLO.replace("finish()", "finnish()"));
    await rejects(provideTools({ home, cache, onBuild: () => undefined }), (error: Error) => {
      match(error.message, /Cannot compile .*demo/s);
      match(error.message, /finnish/);
      match(error.message, /^Cannot build [^(]*\n {2}│ /);
      return true;
    });
    deepStrictEqual(names(cache), []);
  });
});

Deno.test("a change of a source, and not of a test, is a new build", async () => {
  await inFolder((root) => {
    const home = repository(root, "home", ["patch"]);
    const digest = digestTools(home);
    Deno.writeTextFileSync(join(home, "tools-wasm/patch/new_test.ts"), "1;\n");
    strictEqual(digestTools(home), digest);
    addDemo(home, HELLO);
    const withDemo = digestTools(home);
    notStrictEqual(withDemo, digest);
    Deno.writeTextFileSync(join(home, "tools-wasm/sdk/as/assembly/remit/more.ts"), "// more\n");
    notStrictEqual(digestTools(home), withDemo);
    return Promise.resolve();
  });
});

Deno.test("a plugin cannot take its imports from outside its folder and the kit", async () => {
  await inFolder(async (root) => {
    const home = repository(root, "home", ["exec"]);
    Deno.writeTextFileSync(join(home, "tools-wasm/secret.ts"), "export const secret = 7;\n");
    addDemo(
      home,
      `import { secret } from "../../secret";\n${HELLO.replace('"hello"', "secret.toString()")}`,
    );
    await rejects(
      provideTools({ home, cache: join(root, "cache"), onBuild: () => undefined }),
      /File '.*secret.*' not found/s,
    );
  });
});
