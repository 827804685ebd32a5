/** A plugin that nobody signed asks a task's wiki with `memory.query`. */
import assert from "node:assert/strict";
import { type HostFunction, PluginManifest } from "../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { realTools } from "../fake/tools.ts";
import { CALL } from "./_desk.ts";
import { type WikiSiege, withWiki } from "./_wiki.ts";

const CODE = `globalThis.__tools = { lookup: async ({ query }, remit) =>
  (await remit.memory.query({ query, k: 3 })).hits.map(({ file, text }) => file + ": " + text) };`;

/** A script plugin with one tool, which looks something up. */
async function lookup(dir: string, hostFunctions: HostFunction[]): Promise<KernelConfig["tools"]> {
  const { engine, plugins } = await realTools();
  const file = `${dir}/lookup.js`;
  await Deno.writeTextFile(file, CODE);
  const manifest = PluginManifest.parse({
    ...{ name: "lookup", version: "1.0.0", licence: "Apache-2.0", engine: "script" },
    ...{ memoryPages: 2_048, sha256: sha256Hex(CODE), hostFunctions },
    tools: [{
      ...{ name: "lookup", description: "Looks something up." },
      parameters: {
        type: "object",
        properties: { query: { type: "string", maxLength: 1_000 } },
        required: ["query"],
        additionalProperties: false,
      },
    }],
  });
  const own = { manifest, file, trusted: false };
  return { plugins: [...plugins, own], ...(engine === undefined ? {} : { engine }) };
}

async function withLookup(
  hostFunctions: HostFunction[],
  f: (siege: WikiSiege) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "remit-lookup-" });
  try {
    await withWiki(f, { tools: await lookup(dir, hostFunctions) });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** Calls the plugin once, and tells what came of it. */
async function tell(
  siege: WikiSiege,
  draft: Parameters<WikiSiege["run"]>[0],
): Promise<{ readonly outcome: string; readonly content: string; readonly error?: string }> {
  const program = `({ async turn(ports) { ${CALL}
    return { stop: "answered", text: JSON.stringify(await call("c", "lookup", { query: "lease gale" })) };
  } })`;
  const task = await siege.run({ ...draft, program });
  assert.equal((await task.end).status, "done");
  return JSON.parse(String((await task.task())["answer"]));
}

Deno.test("a plugin finds what its task may see, carries its colour and label, and no secret page", async () => {
  await withLookup(["memory.query"], async (siege) => {
    await siege.page("lease", "A lease ends in a gale.", { colour: "RED" });
    await siege.page("sale", "The lease of the harbour is for sale in a gale.", {
      label: "secret",
    });
    const found = await tell(siege, { memory: siege.memory({ clearance: "internal" }) });
    assert.equal(found.outcome, "ok", found.error);
    assert.match(found.content, /lease\.md: .*A lease ends in a gale/s);
    assert.doesNotMatch(found.content, /for sale/);
    assert.deepEqual([Object(found).colour, Object(found).label], ["RED", "internal"]);
    const all = await tell(siege, { memory: siege.memory() });
    assert.match(all.content, /for sale/);
    assert.equal(Object(all).label, "secret");
  });
});

Deno.test("a plugin would have asked a wiki that its task does not hold, or that it did not ask for", async () => {
  await withLookup(["memory.query"], async (siege) => {
    const none = await tell(siege, {});
    assert.notEqual(none.outcome, "ok");
    assert.match(none.error ?? "", /holds no wiki/);
  });
  await withLookup([], async (siege) => {
    const unasked = await tell(siege, { memory: siege.memory() });
    assert.match(unasked.error ?? "", /did not ask for it/);
  });
});
