import assert from "node:assert/strict";
import { Fault } from "../../../contracts/fault.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { embedderContract } from "../../_fixture/embedder_suite.ts";
import { makeClassifier, makeReranker } from "../../embed/mod.ts";
import { lexicalProgram, openLexicalProcess } from "./_fixture/lexical_process.ts";
import { smallLexicon } from "./_fixture/small_lexicon.ts";
import { type BuiltLexicon, LEXICON_SHA256, provideLexical } from "./build/mod.ts";
import { openLexical, parseLexicon } from "./mod.ts";

const HOME = new URL("../../../", import.meta.url).pathname.replace(/\/$/, "");
const options = { signal: new AbortController().signal };

// Built once for a check-out: 10 to 20 seconds of one core.
let building: Promise<BuiltLexicon> | undefined;
async function builtLexicon(): Promise<Uint8Array> {
  building ??= provideLexical({
    home: HOME,
    cache: `${HOME}/.build/lexical`,
    onBuild: () => {},
  });
  return await Deno.readFile((await building).file);
}

async function open(): Promise<Awaited<ReturnType<typeof openLexical>>> {
  const config = JSON.stringify({ weights: LEXICON_SHA256, bytes: 1 });
  return await openLexical({ config }, [await builtLexicon()]);
}

Deno.test("the lexicon that this machine builds is the one that is pinned, bit for bit", async () => {
  const bytes = await builtLexicon();
  assert.equal(sha256Hex(bytes), LEXICON_SHA256);
  assert.ok(bytes.length < 11_000_000);
  const { size, dimensions, notice } = parseLexicon(bytes);
  assert.ok(size > 35_000 && dimensions === 256);
  assert.match(notice, /WordNet 3\.1 Copyright 2011 by Princeton University/);
});

Deno.test("paraphrases without a word in common are found among others", async () => {
  const rank = makeReranker(await open()).rank;
  const texts = [
    "Blot spilled Merlot off the carpet at once and sprinkle salt on it.",
    "A ladder stands behind the garage, next to the wheelbarrow.",
    "The auditors checked forty accounts.",
    "Fit a fresh washer and the leaking faucet will be dry again.",
    "Snails ate all of the lettuce.",
  ];
  const first = async (query: string): Promise<number> => {
    const scores = await rank(query, texts, options);
    return scores.indexOf(Math.max(...scores));
  };
  assert.equal(await first("how to stop a tap that drips"), 3);
  assert.equal(await first("get red wine out of a rug"), 0);
});

Deno.test("a label that describes a text is told from others", async () => {
  const labels = ["cooking and food", "money and banks", "illness and medicine"];
  const { classify } = makeClassifier(await open());
  const best = async (text: string): Promise<string | undefined> => {
    const scores = await classify(text, labels, options);
    return labels[scores.indexOf(Math.max(...scores))];
  };
  assert.equal(await best("Stir the flour into the gravy."), labels[0]);
  assert.equal(await best("The mortgage has not been paid back yet."), labels[1]);
  assert.equal(await best("The physician prescribed a tablet against the fever."), labels[2]);
});

const program = lexicalProgram().then((built) => {
  globalThis.addEventListener("unload", () => {
    Deno.removeSync(built.file.slice(0, built.file.lastIndexOf("/")), { recursive: true });
  });
  return built;
});

embedderContract(
  "lexical, in a process without permissions,",
  async () => await openLexicalProcess((await program).file, await builtLexicon()),
);

Deno.test("mallory's lexicon is a fault of the process that reads it; the next process opens the right one", async () => {
  const { file } = await program;
  const hostile = smallLexicon();
  hostile[9] = 0xff;
  await assert.rejects(
    openLexicalProcess(file, hostile),
    (error) => error instanceof Fault && error.code === "invalidInput",
  );
  await using opened = await openLexicalProcess(file, smallLexicon());
  assert.equal((await opened.embedder.embed(["a tap"], options)).vectors.length, 1);
});
