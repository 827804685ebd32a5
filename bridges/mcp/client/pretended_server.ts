/**
 * Runs whole sessions in memory, so that a pooled bridge opens its real server with compiled code:
 * the SDK builds the schemas of a revision at its first use. Used by main.ts.
 * @module
 */
import type { Json, JsonObject } from "../../../contracts/base/json.ts";
import type { Port } from "../../../contracts/base/port.ts";
import { asJson } from "../../../port/as_json.ts";
import { makePort } from "../../../port/port.ts";
import { type BridgePowers, makeBridge } from "./bridge.ts";

const OPEN = { transport: "stdio", roots: [], elicitation: true, sampling: true };
const NAMED = { name: "warm", version: "0" };
const CAPABILITIES = { tools: {} };
const CONTENT = [{ type: "text", text: "warm" }];
const TOOL = { name: "warm", description: "warm", inputSchema: { type: "object", properties: {} } };
const MODERN = { resultType: "complete", ttlMs: 0, cacheScope: "private" };

/** The pretended server's answers by method; other methods are unknown to it. */
type Answers = Readonly<Record<string, object>>;

const NEW: Answers = {
  "server/discover": {
    ...MODERN,
    supportedVersions: ["2026-07-28"],
    capabilities: CAPABILITIES,
    _meta: { "io.modelcontextprotocol/serverInfo": NAMED },
  },
  "tools/list": { ...MODERN, tools: [TOOL] },
  "tools/call": { resultType: "complete", content: CONTENT },
};
const OLD: Answers = {
  initialize: { protocolVersion: "2025-11-25", capabilities: CAPABILITIES, serverInfo: NAMED },
  "tools/list": { tools: [TOOL] },
  "tools/call": { content: CONTENT },
};

/** Runs a session with a pretended server of each protocol era: open, list, call. */
export async function warm(powers: Omit<BridgePowers, "hearWarnings">): Promise<void> {
  for (const answers of [NEW, OLD]) await session(answers, { ...powers, hearWarnings: () => {} });
}

async function session(answers: Answers, powers: BridgePowers): Promise<void> {
  const bridge: Port = makePort({
    write: (bytes) => kernel.feed(bytes),
    handler: makeBridge({
      ask: (op, body) => bridge.ask(op, body),
      tell: (op, body) => bridge.tell(op, body),
    }, powers),
  });
  // TRUST: from the bridge, which runs in this process.
  const send = (op: string, body: Json): void => {
    if (op === "send") answer(answers, (body as { readonly text: string }).text, kernel);
  };
  const kernel: Port = makePort({
    write: (bytes) => bridge.feed(bytes),
    handler: {
      ask(op: string, body: Json): Json {
        send(op, body);
        return null;
      },
      tell: send,
    },
  });
  await kernel.ask("open", { ...OPEN, deadlineMs: 10_000 });
  await kernel.ask("words", null);
  await kernel.ask("call", { id: "warm", tool: "warm", args: {}, deadlineMs: 10_000 });
  kernel.close("warm");
  bridge.close("warm");
}

function answer(answers: Answers, text: string, kernel: Port): void {
  const { id, method } = JSON.parse(text) as JsonObject;
  if (id === undefined || typeof method !== "string") return;
  const result = answers[method];
  const says = result === undefined ? { error: { code: -32_601, message: "warm" } } : { result };
  const line = asJson({ text: `${JSON.stringify({ jsonrpc: "2.0", id, ...says })}\n` });
  kernel.ask("bytes", line).catch(() => {});
}
