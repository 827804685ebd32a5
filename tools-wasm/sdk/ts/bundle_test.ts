import { equal, match, rejects } from "node:assert/strict";
import { join } from "node:path";
import { bundleScript } from "./bundle.ts";

/** Bundles a folder with these files. */
async function bundled(files: Readonly<Record<string, string>>): Promise<string> {
  const outer = await Deno.makeTempDir();
  const folder = join(outer, "plugin");
  await Deno.mkdir(folder);
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(join(folder, name), text);
    }
    return await bundleScript(folder);
  } finally {
    await Deno.remove(outer, { recursive: true });
  }
}

/** What the script leaves behind, in an object of its own. */
function toolsOf(script: string): Record<string, (args: unknown) => unknown> {
  const globalThis: { __tools?: Record<string, (args: unknown) => unknown> } = {};
  new Function("globalThis", script)(globalThis);
  return globalThis.__tools ?? {};
}

Deno.test("alice's tool.ts with a file and a package of its own becomes one script", async () => {
  const script = await bundled({
    "tool.ts":
      'import { parse } from "yaml";\nimport { twice } from "./twice.ts";\nexport const tools = { sum: (args: { text: string }) => twice(parse(args.text).n as number) };',
    "twice.ts": "export const twice = (n: number): number => n * 2;",
  });
  equal(toolsOf(script)["sum"]?.({ text: "n: 21" }), 42);
});

Deno.test("the same sources give the same script wherever they lie", async () => {
  const files = { "tool.ts": "export const tools = { where: () => 'nowhere' };" };
  const script = await bundled(files);
  equal(script, await bundled(files));
  match(script, /nowhere/);
});

Deno.test("mallory's tool.ts cannot take in files outside its folder, the network or other packages", async () => {
  const refused = { name: "Fault", code: "invalidInput" };
  const tail = "\nexport const tools = {};";
  for (
    const line of [
      'import a from "/proc/self/status" with { type: "text" };\na;',
      'import a from "../../../../proc/version" with { type: "bytes" };\na;',
      'import a from "file:///etc/hostname" with { type: "text" };\na;',
      'import a from "https://example.com/a.ts";\na;',
      'import a from "npm:long@5.3.2";\na;',
      'import a from "./missing.ts";\na;',
      `import a from ${
        JSON.stringify(new URL("../../../deno.json", import.meta.url).href)
      } with { type: "json" };\na;`,
    ]
  ) {
    await rejects(bundled({ "tool.ts": line + tail }), refused, line);
  }
  await rejects(bundled({ "tool.ts": "export const tools = {" }), refused);
  await rejects(bundled({ "tool.ts": "export const tool = {}" }), refused);
});

Deno.test("mallory's folder asks no registry, writes no lock and leaves nothing in the cache, however it names a package", async () => {
  const asked: string[] = [];
  const registry = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    asked.push(new URL(request.url).pathname);
    return new Response("no such package", { status: 404 });
  });
  const lock = new URL("../../../deno.lock", import.meta.url);
  const before = await Deno.readTextFile(lock);
  const names = ["NPM_CONFIG_REGISTRY", "JSR_URL", "DENO_DIR"];
  const kept = names.map((name) => [name, Deno.env.get(name)] as const);
  const cache = await Deno.makeTempDir();
  try {
    const url = `http://127.0.0.1:${registry.addr.port}/`;
    Deno.env.set("NPM_CONFIG_REGISTRY", url);
    Deno.env.set("JSR_URL", url);
    Deno.env.set("DENO_DIR", cache);
    const own = {
      "deno.json": JSON.stringify({ imports: { mine: "npm:is-odd@3.0.1" }, lock: "./own.lock" }),
      "package.json": JSON.stringify({ dependencies: { "left-pad": "1.3.0", is: "*" } }),
      ".npmrc": `registry=${url}\n`,
    };
    for (
      const line of [
        'import a from "npm:long@5.3.2";\na;',
        'import a from "npm:yaml@2.9.0";\na;',
        'import a from "npm:left-pad";\na;',
        'import a from "left-pad";\na;',
        'import a from "mine";\na;',
        'import a from "jsr:@std/path@1";\na;',
        `import a from "${url}a.ts";\na;`,
        'await import("npm:left-pad@1.3.0");',
        'export * from "npm:left-pad@1.3.0";',
        '// @deno-types="npm:@types/left-pad"\nimport a from "./twice.ts";\na;',
        'import type { A } from "npm:left-pad@1.3.0";\nexport type B = A;',
      ]
    ) {
      const files = {
        ...own,
        "twice.ts": "export default 2;",
        "tool.ts": `${line}\nexport const tools = {};`,
      };
      await rejects(bundled(files), { name: "Fault", code: "invalidInput" }, line);
      equal([...Deno.readDirSync(cache)].length, 0, line);
    }
    equal(asked.join(" "), "");
    equal([...Deno.readDirSync(cache)].map(({ name }) => name).join(" "), "");
  } finally {
    for (const [name, value] of kept) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
    await registry.shutdown();
    await Deno.remove(cache, { recursive: true });
  }
  equal(await Deno.readTextFile(lock), before);
});

Deno.test("what does not parse is told with its line", async () => {
  const files = { "tool.ts": "export const tools = {};\nconst x = (1 : 2);\n" };
  await rejects(bundled(files), /SyntaxError[^]*const x = \(1 : 2\)[^]*tool\.ts:2:14/);
});

Deno.test("a link in the folder does not lead out of it", async () => {
  const outer = await Deno.makeTempDir();
  await Deno.mkdir(join(outer, "plugin"));
  await Deno.writeTextFile(join(outer, "secret.json"), '{"key":"s3cret"}');
  await Deno.symlink(join(outer, "secret.json"), join(outer, "plugin/mine.json"));
  await Deno.writeTextFile(
    join(outer, "plugin/tool.ts"),
    'import a from "./mine.json" with { type: "json" };\nexport const tools = { a };',
  );
  await rejects(bundleScript(join(outer, "plugin")), { name: "Fault", code: "invalidInput" });
  await Deno.remove(outer, { recursive: true });
});
