/** A call of a tool, from its arguments to its result. @module */
import { Fault } from "../../../../contracts/fault.ts";
import type { JsonObject } from "../../../../contracts/json.ts";
import type { McpCall, McpCallResult } from "../../../../contracts/wire_mcp.ts";
import { asJson } from "../../../../port/as_json.ts";
import { parseJson } from "../../../../port/parse.ts";
import { cutText } from "../cut.ts";
import { misfit } from "./schema_check.ts";
import { toolResult } from "./result.ts";

/** Longest structured content, JSON text. */
const STRUCTURED_UNITS = 8_000_000;

/** What `tools/call` takes of a call. */
export function callParams({ tool, args }: Pick<McpCall, "tool" | "args">): JsonObject {
  return { name: tool, arguments: asJson(args) };
}

/**
 * Makes the result of what a server answered, its structured content held against the reviewed schema.
 *
 * @throws Fault `upstream` when it does not fit, `tooLarge` when it is more than may be held
 */
export function callResult(
  { tool, resultSchema }: Pick<McpCall, "tool" | "resultSchema">,
  answer: JsonObject,
): McpCallResult {
  const { content, structuredContent } = answer;
  const cannot = `Cannot take the result of tool ${JSON.stringify(cutText(tool, 80))}`;
  if (!Array.isArray(content) && (content !== undefined || structuredContent === undefined)) {
    throw new Fault("upstream", `${cannot}: the server answered something else (no "content")`);
  }
  const result = toolResult(answer);
  if (structuredContent === undefined) {
    if (resultSchema === undefined || result.isError) return result;
    throw new Fault("upstream", `${cannot}: it has no structured content, as its schema says`);
  }
  const structured = JSON.stringify(structuredContent);
  if (structured.length > STRUCTURED_UNITS) {
    throw new Fault("tooLarge", `${cannot}: its structured content is too large`);
  }
  if (resultSchema !== undefined && !result.isError) {
    const why = misfit(parseJson(resultSchema), structuredContent);
    if (why !== undefined) {
      throw new Fault("upstream", `${cannot}: it does not fit its schema: ${why}`);
    }
  }
  return { ...result, structured };
}
