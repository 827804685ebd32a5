/** Parses a plugin host's requests, and makes the input of a tool with its own export. @module */
import * as z from "zod";
import { Fault, type Json, type JsonObject } from "../../contracts/base/mod.ts";
import { HostFunction, type PluginTool } from "../../contracts/tool/mod.ts";

const HostRequest = z.object({
  call: z.string().max(128),
  fn: HostFunction,
  args: z.record(z.string(), z.json()),
}).strict();

/** Parses a `host` request. Throws `badFrame` for any other. */
export function parseHostRequest(
  op: string,
  body: Json,
): { readonly fn: HostFunction; readonly args: JsonObject } {
  const parsed = HostRequest.safeParse(body);
  if (op !== "host" || !parsed.success) {
    throw new Fault("badFrame", "Cannot serve the plugin host: it asks for what there is not");
  }
  return parsed.data;
}

/** The input of a tool with its own export (contracts/tool/plugin.ts); undefined for others. */
export function rawInput(tool: PluginTool, args: JsonObject): string | undefined {
  if (tool.export === undefined) return undefined;
  const { properties } = tool.parameters;
  const names = typeof properties === "object" && properties !== null
    ? Object.keys(properties)
    : [];
  const { input } = args;
  return names.length === 1 && names[0] === "input" && typeof input === "string"
    ? input
    : JSON.stringify(args);
}
