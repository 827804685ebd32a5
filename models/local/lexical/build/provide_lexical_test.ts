import assert from "node:assert/strict";
import { basename } from "node:path";
import { Fault } from "../../../../contracts/fault.ts";
import { provideLexical } from "./mod.ts";

async function inCache(work: (cache: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "remit-lexical-" });
  try {
    await work(`${root}/cache`);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("a build that gives other bytes than are pinned is refused, and leaves nothing", async () => {
  await inCache(async (cache) => {
    const build = (_home: string, out: string): Promise<void> => Deno.writeTextFile(out, "hostile");
    await assert.rejects(
      provideLexical({ home: "/nowhere", cache, onBuild: () => {} }, build),
      (error) =>
        error instanceof Fault && error.code === "unavailable" && /is pinned$/.test(error.message),
    );
    assert.deepEqual([...Deno.readDirSync(cache)], []);
  });
});

Deno.test("a lexicon that was changed on disk is not used: it is built again", async () => {
  await inCache(async (cache) => {
    const said: string[] = [];
    let file = "";
    const options = { home: "/nowhere", cache, onBuild: (text: string) => void said.push(text) };
    const failing = (_home: string, out: string): Promise<void> => {
      file = out;
      return Promise.reject(new Fault("unavailable", "Cannot build the lexicon: no registry"));
    };
    await assert.rejects(provideLexical(options, failing), /no registry/);
    assert.equal(file.startsWith(`${cache}/.building-`), true);
    const { LEXICON_SHA256 } = await import("./mod.ts");
    const place = `${cache}/lexical-${LEXICON_SHA256.slice(0, 32)}.bin`;
    await Deno.writeTextFile(place, "changed");
    await assert.rejects(provideLexical(options, failing), /no registry/);
    assert.equal(said.length, 2);
    assert.deepEqual([...Deno.readDirSync(cache)].map(({ name }) => name), [basename(place)]);
  });
});

Deno.test("what a failing build says is shown, and that the first one needs the registry", async () => {
  await inCache(async (cache) => {
    await assert.rejects(
      provideLexical({ home: "/nowhere", cache, onBuild: () => {} }),
      (error) =>
        error instanceof Fault && /first build needs the package registry/.test(error.message),
    );
  });
});
