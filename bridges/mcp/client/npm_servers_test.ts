import assert from "node:assert/strict";
import { ServerListing } from "../../../contracts/exchange/mcp.ts";
import { type BridgeProcess, startBridge } from "../_fixture/bridge_process.ts";
import { npmServer } from "../_fixture/npm_server.ts";

async function textOf(
  bridge: BridgeProcess,
  tool: string,
  args: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { isError, parts } = await bridge.call(tool, args);
  const text = parts.map((part) => part.kind === "text" ? part.text : part.kind).join();
  return `${isError ? "error: " : ""}${text}`;
}

Deno.test("alice uses server-everything: every tool answers", async () => {
  await using bridge = await startBridge(await npmServer("everything"), {
    elicit: () => ({ action: "accept", content: '{"name":"carol"}' }),
    sample: () => ({ model: "thinker", text: "a thought", stop: "endTurn" }),
  });
  await bridge.open({ roots: [{ uri: "file:///desk", name: "desk" }] });
  const words = ServerListing.parse(await bridge.words());
  assert.deepEqual(words.left, []);
  assert.equal(await textOf(bridge, "echo", { message: "hello" }), "Echo: hello");
  assert.match(await textOf(bridge, "get-sum", { a: 1, b: 2 }), /3/);
  assert.match(await textOf(bridge, "get-tiny-image"), /blob/);
  const weather = words.tools.find(({ name }) => name === "get-structured-content");
  const { structured } = await bridge.call("get-structured-content", { location: "New York" }, {
    resultSchema: JSON.stringify(weather?.outputSchema),
  });
  assert.match(structured ?? "", /temperature/);
  const id = "slow";
  await bridge.call("trigger-long-running-operation", { duration: 0.2, steps: 2 }, { id });
  assert.equal(bridge.told.filter(({ op }) => op === "progress").length, 2);
  assert.match(await textOf(bridge, "trigger-sampling-request", { prompt: "?" }), /a thought/);
  assert.match(await textOf(bridge, "trigger-elicitation-request"), /carol/);
  assert.match(await textOf(bridge, "get-roots-list"), /file:\/\/\/desk/);
});

Deno.test("alice uses a tool of server-everything that runs only as a task", async () => {
  await using bridge = await startBridge(await npmServer("everything"));
  await bridge.open();
  const words = await bridge.words();
  assert.ok(words.capabilities.includes("tasks"));
  const said = await textOf(bridge, "simulate-research-query", { topic: "bridges" });
  assert.match(said, /bridges/);
});

Deno.test("alice uses server-filesystem within its folder, and not without", async () => {
  const folder = await Deno.makeTempDir({ prefix: "remit-bridge-files-" });
  try {
    await Deno.writeTextFile(`${folder}/note.txt`, "a note");
    await using bridge = await startBridge(await npmServer("filesystem", [folder]));
    await bridge.open();
    const names = (await bridge.words()).tools.map(({ name }) => name);
    assert.ok(names.includes("read_text_file") && names.includes("write_file"));
    assert.match(await textOf(bridge, "read_text_file", { path: `${folder}/note.txt` }), /a note/);
    assert.match(
      await textOf(bridge, "read_text_file", { path: "/etc/passwd" }),
      /^error: .*denied/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("alice uses server-memory: what she stores is found", async () => {
  const folder = await Deno.makeTempDir({ prefix: "remit-bridge-memory-" });
  try {
    const env = { MEMORY_FILE_PATH: `${folder}/memory.jsonl` };
    await using bridge = await startBridge(await npmServer("memory", [], env));
    await bridge.open();
    const entity = { name: "Bergen", entityType: "town", observations: ["rain"] };
    await bridge.call("create_entities", { entities: [entity] });
    assert.match(await textOf(bridge, "search_nodes", { query: "Bergen" }), /rain/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
