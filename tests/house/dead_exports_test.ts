import { deepStrictEqual } from "node:assert/strict";
import { deadExports, undocumented } from "../../scripts/house/mod.ts";
import { importsOf } from "../../scripts/house/import_rule.ts";
import { parseSource } from "../../scripts/house/source.ts";

/** The dead exports of a tree of files, as `path name`. */
function dead(tree: Readonly<Record<string, string>>): readonly string[] {
  const files = Object.entries(tree).map(([path, text]) => parseSource(path, text));
  return deadExports(files).map(({ path, message }) => `${path} ${/`(\w+)`/.exec(message)?.[1]}`);
}

Deno.test("an export that nothing imports is found, also where its test and its door name it", () => {
  const tree = {
    "net/a.ts": "export function lost(): void {}\nexport async function* used(): void {}\n",
    "net/a_test.ts": `import { lost } from "./a.ts";\nlost();\n`,
    "net/mod.ts": `export { lost, used } from "./a.ts";\n`,
    "kernel/b.ts": `import { used } from "../net/mod.ts";\nused();\n`,
  };
  deepStrictEqual(dead(tree), ["net/a.ts lost", "net/mod.ts lost"]);
});

Deno.test("what its own file uses needs no export, but for a test, a door's example, or as a type", () => {
  const own = "export const MAX = 3;\nexport const f = MAX;\n";
  const user = { "net/b.ts": `import { f } from "./a.ts";\nf;\n` };
  deepStrictEqual(dead({ ...user, "net/a.ts": own }), ["net/a.ts MAX"]);
  for (
    const [path, from] of [
      ["net/a_test.ts", "./a.ts"],
      ["net/_fixture/a.ts", "../a.ts"],
      ["tests/story/a.ts", "../../net/a.ts"],
      ["bench/a.ts", "../net/a.ts"],
    ] as const
  ) {
    const test = `import { MAX } from "${from}";\nMOST;\n`;
    deepStrictEqual(dead({ ...user, "net/a.ts": own, [path]: test }), [], path);
  }
  const door =
    `/** \`\`\`ts\n * import { MAX } from "./mod.ts";\n * \`\`\` */\nexport { MAX } from "./a.ts";\n`;
  deepStrictEqual(dead({ ...user, "net/a.ts": own, "net/mod.ts": door }), []);
  deepStrictEqual(dead({ "net/a.ts": "export type A = 1;\nconst a: A = 1;\na;\n" }), []);
  deepStrictEqual(dead({ "net/a.ts": "export type A = 1;\n" }), ["net/a.ts A"]);
});

Deno.test("a fixture lives by the tests that import it, and what a bench gives out is called", () => {
  const fixture = "export const A = 1;\nexport const B = 2;\n";
  const test = `import { A } from "./_fixture/a.ts";\nA;\n`;
  deepStrictEqual(
    dead({ "net/_fixture/a.ts": fixture, "net/a_test.ts": test, "bench/a_bench.ts": fixture }),
    ["net/_fixture/a.ts B"],
  );
});

Deno.test("a name is taken by each form of import, and by no other name", () => {
  const source = { "net/a.ts": "export const one = 1;\nexport const two = 2;\n" };
  for (
    const text of [
      `import { one } from "./a.ts";`,
      `import { two as x, one as y } from "./a.ts";`,
      `import type { one } from "./a.ts";`,
      `const { one } = await import("./a.ts");`,
      `const { one: x } = await import("./a.ts");`,
      `(await import("./a.ts")).one();`,
      `type One = typeof import("./a.ts").one;`,
    ]
  ) {
    const expected = text.includes("two") ? [] : ["net/a.ts two"];
    deepStrictEqual(dead({ ...source, "net/b.ts": text }), expected, text);
  }
  // What is handed on and taken by nobody is as dead as before.
  deepStrictEqual(dead({ ...source, "net/b.ts": `export { one } from "./a.ts";` }), [
    "net/a.ts one",
    "net/a.ts two",
    "net/b.ts one",
  ]);
  for (
    const text of [
      `import * as all from "./a.ts";`,
      `import("./a.ts").then((all) => all);`,
      `export * from "./a.ts";\nexport const x = 1;`,
    ]
  ) {
    const user = { "net/c.ts": `import { one, two, x } from "./b.ts";` };
    deepStrictEqual(
      dead({ ...source, ...user, "net/b.ts": text }).filter((found) => !found.endsWith(" x")),
      [],
      text,
    );
  }
});

Deno.test("a name that is also a word of the language hides no import", () => {
  const text =
    `import { namespace, type X } from "../store/mod.ts";\nimport { async } from "./a.ts";\n`;
  const found = importsOf(parseSource("net/b.ts", text));
  deepStrictEqual(found.map(({ specifier, names }) => [specifier, ...names]), [
    ["../store/mod.ts", "namespace", "X"],
    ["./a.ts", "async"],
  ]);
});

Deno.test("contracts and what the engine calls are not judged", () => {
  deepStrictEqual(
    dead({
      "contracts/a.ts": "export const a = 1;\n",
      "tools-wasm/x/tool.ts": "export const tools = 1;\n",
    }),
    [],
  );
});

Deno.test("an export that another folder imports, or a door hands on, has a JSDoc sentence of its own", () => {
  const bare = (user: Readonly<Record<string, string>>, doc = ""): readonly string[] => {
    const tree = { "port/a.ts": `${doc}export const one = 1;\nexport const two = 2;\n`, ...user };
    const files = Object.entries(tree).map(([path, text]) => parseSource(path, text));
    return undocumented(files).map(({ path, message }) =>
      `${path} ${/`(\w+)`/.exec(message)?.[1]}`
    );
  };
  const user = `import { one } from "../port/a.ts";\none;\n`;
  deepStrictEqual(bare({ "net/b.ts": user }), ["port/a.ts one"]);
  deepStrictEqual(bare({ "net/b.ts": user }, "/** Counts. */\n"), []);
  deepStrictEqual(bare({ "net/b.ts": user }, "// Counts.\n"), ["port/a.ts one"]);
  const moduleDoc = "/** Numbers. @x\n * @module\n */\n";
  deepStrictEqual(bare({ "net/b.ts": user }, moduleDoc), ["port/a.ts one"]);
  deepStrictEqual(bare({ "net/b.ts": user }, `${moduleDoc}/** Counts. */\n`), []);
  deepStrictEqual(bare({ "port/mod.ts": `export { two } from "./a.ts";\n` }), ["port/a.ts two"]);
  deepStrictEqual(bare({ "net/b.ts": `import * as all from "../port/a.ts";\nall;\n` }), [
    "port/a.ts one",
    "port/a.ts two",
  ]);
  deepStrictEqual(bare({ "port/b.ts": `import { one } from "./a.ts";\none;\n` }), []);
  deepStrictEqual(bare({ "net/b_test.ts": user }), []);
});
