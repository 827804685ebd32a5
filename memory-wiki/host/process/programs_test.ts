import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { Fault } from "../../../contracts/base/mod.ts";
import { provideWikiProgram } from "./programs_powers.ts";

const SOURCES = ["memory-wiki/main.ts", "memory-wiki/parse/main.ts", "kernel/main.ts"];

async function withHome(f: (home: string, cache: string) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "remit-home-" });
  try {
    for (const file of SOURCES) {
      await Deno.mkdir(dirname(join(home, file)), { recursive: true });
      await Deno.writeTextFile(join(home, file), "const n: number = 1;\nvoid n;\n");
    }
    await Deno.writeTextFile(join(home, "deno.json"), '{"nodeModulesDir":"none"}');
    await f(home, join(home, "cache"));
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("two that need the parser at once get the same one, and a third builds nothing", async () => {
  await withHome(async (home, cache) => {
    let built = 0;
    const provide = () =>
      provideWikiProgram("parser", { home, cache, onBuild: () => void (built += 1) });
    const [one, two] = await Promise.all([provide(), provide()]);
    assert.deepEqual(one, two);
    assert.ok((await Deno.stat(one.bundle)).isFile && (await Deno.stat(one.denoDir)).isDirectory);
    const before = built;
    assert.deepEqual(await provide(), one);
    assert.equal(built, before);
    assert.deepEqual([...Deno.readDirSync(cache)].filter(({ name }) => name.startsWith(".")), []);
  });
});

Deno.test("a change of the wiki builds the wiki anew, not the parser, and one of the kernel neither", async () => {
  await withHome(async (home, cache) => {
    const parts = { home, cache, onBuild: () => undefined };
    const both = async () => [
      (await provideWikiProgram("wiki", parts)).bundle,
      (await provideWikiProgram("parser", parts)).bundle,
    ];
    const [wiki, parser] = await both();
    await Deno.writeTextFile(join(home, "kernel/main.ts"), "void 2;\n");
    assert.deepEqual(await both(), [wiki, parser]);
    await Deno.writeTextFile(join(home, "memory-wiki/main.ts"), "void 2;\n");
    const [otherWiki, sameParser] = await both();
    assert.notEqual(otherWiki, wiki);
    assert.equal(sameParser, parser);
  });
});

Deno.test("a parser that does not build is a fault, and leaves nothing behind", async () => {
  await withHome(async (home, cache) => {
    await Deno.writeTextFile(join(home, "memory-wiki/parse/main.ts"), "const = ;");
    await assert.rejects(
      provideWikiProgram("parser", { home, cache, onBuild: () => undefined }),
      (error: unknown) => error instanceof Fault && error.code === "unavailable",
    );
    assert.deepEqual([...Deno.readDirSync(cache)], []);
  });
});
