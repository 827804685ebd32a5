/**
 * A minimal MCP server over HTTP for a foreign agent: one JSON answer for each message, without
 * sessions, streams or state. The kernel defines the tools and makes the calls. Used by
 * relay_powers.ts.
 * @module
 */
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import type { ServedTool } from "../../../contracts/tool/foreign_agent.ts";

/** Lists tools and makes calls. */
export interface ToolDesk {
  list(): Promise<readonly ServedTool[]>;
  call(
    tool: string,
    args: string,
  ): Promise<{ readonly content: string; readonly isError: boolean }>;
}

const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
/** JSON-RPC error codes. */
const NO_REQUEST = -32_600, NO_METHOD = -32_601, BAD_PARAMS = -32_602, FAILED = -32_603;

/** Answers a message; undefined for a notification. */
export async function serveTools(message: Json, desk: ToolDesk): Promise<JsonObject | undefined> {
  if (!isObject(message) || typeof message["method"] !== "string") {
    return failure(null, NO_REQUEST, "this is no request of JSON-RPC");
  }
  const { id, method, params } = message;
  if (typeof id !== "string" && typeof id !== "number") return undefined;
  const asked = isObject(params) ? params : {};
  switch (method) {
    case "initialize": {
      const wanted = VERSIONS.find((each) => each === asked["protocolVersion"]);
      return answer(id, {
        protocolVersion: wanted ?? VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: { name: "remit", version: "1" },
      });
    }
    case "ping":
      return answer(id, {});
    case "tools/list": {
      const tools = await desk.list();
      return answer(id, {
        tools: tools.map(({ name, description, schema }) => ({
          ...{ name, description },
          inputSchema: JSON.parse(schema) as Json,
        })),
      });
    }
    case "tools/call": {
      const { name, arguments: args = {} } = asked;
      if (typeof name !== "string" || !isObject(args)) {
        return failure(id, BAD_PARAMS, 'a call needs "name" and an object "arguments"');
      }
      try {
        const { content, isError } = await desk.call(name, JSON.stringify(args));
        return answer(id, { content: [{ type: "text", text: content }], isError });
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        return failure(id, FAILED, error.message.slice(0, 512));
      }
    }
    default:
      return failure(id, NO_METHOD, `${method.slice(0, 64)} is not offered`);
  }
}

const answer = (id: string | number, result: JsonObject): JsonObject => ({
  jsonrpc: "2.0",
  id,
  result,
});

function failure(id: string | number | null, code: number, message: string): JsonObject {
  return { jsonrpc: "2.0", id, error: { code, message } };
}
