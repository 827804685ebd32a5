/** The start line of the scripted server, with a handshake of 2025-11-25 before what a test scripts. @module */
import type { LineServer } from "./bridge_process.ts";

/** See raw.ts. */
export interface RawRule {
  readonly when?: string;
  readonly always?: boolean;
  readonly say: readonly (string | Readonly<Record<string, unknown>>)[];
}

/** The server's declared capabilities. */
const RAW_CAPABILITIES = Object.freeze({ tools: { listChanged: true }, logging: {} });

/** The rules of an honest handshake. */
export function handshake(capabilities: object = RAW_CAPABILITIES): readonly RawRule[] {
  const error = { code: -32601, message: "Method not found" };
  const serverInfo = { name: "raw", version: "0" };
  const result = { protocolVersion: "2025-11-25", capabilities, serverInfo };
  return [
    { when: "server/discover", always: true, say: [{ jsonrpc: "2.0", id: "$id", error }] },
    { when: "initialize", say: [{ jsonrpc: "2.0", id: "$id", result }] },
  ];
}

/** The line that starts a server with exactly these rules. */
export function rawLine(rules: readonly RawRule[]): LineServer {
  const file = new URL("raw.ts", import.meta.url).pathname;
  const flags = ["run", "--quiet", "--no-config", "--no-lock", "--no-prompt"];
  return { line: [Deno.execPath(), ...flags, file, JSON.stringify(rules)] };
}

/** A server that completes the handshake and then follows the test's rules. */
export function rawServer(rules: readonly RawRule[], capabilities?: object): LineServer {
  return rawLine([...rules, ...handshake(capabilities)]);
}

/** An honest answer to `tools/call`. */
export const ANSWER = Object.freeze({
  jsonrpc: "2.0",
  id: "$id",
  result: { content: [{ type: "text", text: "done" }] },
});
