import { deepEqual, equal, match } from "node:assert/strict";
import type { Json, JsonObject } from "../../../contracts/base/json.ts";
import { serveTools, type ToolDesk } from "./tool_server.ts";

const desk: ToolDesk = {
  list: () => Promise.resolve([{ name: "a", description: "A.", schema: '{"type":"object"}' }]),
  call: (tool, args) =>
    tool === "a"
      ? Promise.resolve({ content: args, isError: false })
      : Promise.reject(new Error("it is not served")),
};
const ask = async (method: string, params: Json = {}): Promise<JsonObject> =>
  await serveTools({ jsonrpc: "2.0", id: 1, method, params }, desk) ?? {};

Deno.test("a client is told a version that it knows, the tools, and what a call came to", async () => {
  const hello = await ask("initialize", { protocolVersion: "2025-03-26" });
  match(JSON.stringify(hello), /"protocolVersion":"2025-03-26"/);
  match(JSON.stringify(await ask("initialize")), /"protocolVersion":"2025-11-25"/);
  deepEqual((await ask("tools/list"))["result"], {
    tools: [{ name: "a", description: "A.", inputSchema: { type: "object" } }],
  });
  deepEqual((await ask("tools/call", { name: "a", arguments: { x: 1 } }))["result"], {
    ...{ content: [{ type: "text", text: '{"x":1}' }], isError: false },
  });
});

Deno.test("what is no request, no tool or no call is refused, and a notification has no answer", async () => {
  for (const message of [null, [], 7, {}, { id: 1, method: 7 }]) {
    match(JSON.stringify(await serveTools(message, desk)), /no request of JSON-RPC/);
  }
  equal(
    await serveTools({ jsonrpc: "2.0", method: "notifications/initialized" }, desk),
    undefined,
  );
  match(JSON.stringify(await ask("tools/call", { name: "b" })), /it is not served/);
  match(JSON.stringify(await ask("tools/call", { name: 7 })), /a call needs/);
  match(JSON.stringify(await ask("tools/call", { name: "a", arguments: [] })), /a call needs/);
  match(JSON.stringify(await ask("resources/read")), /is not offered/);
});
