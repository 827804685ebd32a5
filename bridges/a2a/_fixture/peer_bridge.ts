/** The bridge to a peer in its real process, without any permission, and a test that plays its kernel. @module */
import assert from "node:assert/strict";
import type { PeerFacts, PeerWords } from "../../../contracts/exchange/exchange.ts";
import type { McpCallResult, McpReady } from "../../../contracts/wire/wire_mcp.ts";
import { type BridgeProcess, startBridge } from "../../mcp/_fixture/bridge_process.ts";

let built: Promise<string> | undefined;

async function build(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "remit-peer-bridge-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  const file = `${folder}/a2a.js`;
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--no-check", "--config", config, "--platform", "browser"],
      ...["--minify", "-o", file],
      new URL("../client/main.ts", import.meta.url).pathname,
    ],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return file;
}

/** Path of the bundled program: built once, removed with the test process. */
function peerProgram(): Promise<string> {
  built ??= build();
  return built;
}

/** An open bridge. */
export interface PeerBridge extends AsyncDisposable {
  readonly process: BridgeProcess;
  readonly ready: McpReady;
  words(): Promise<PeerWords>;
  /** Sends a message; `key` is the call's. */
  send(
    args: Readonly<Record<string, unknown>>,
    over?: { readonly key?: string; readonly waitMs?: number; readonly id?: string },
  ): Promise<McpCallResult>;
  task(body: Readonly<Record<string, unknown>>, waitMs?: number): Promise<McpCallResult>;
  artifact(task: string, artifact: string): Promise<McpCallResult>;
}

/** Opens a bridge to the peer at `url`, with this pin. */
export async function openPeer(
  url: string,
  pinned: Partial<Omit<PeerFacts, "card">> = {},
): Promise<PeerBridge> {
  const process = await startBridge({ url }, {}, { program: await peerProgram() });
  let calls = 0;
  const a2a = { endpoint: url, binding: "JSONRPC", keys: [], ...pinned };
  const timed = (waitMs = 60_000) => ({ id: `c${++calls}`, deadlineMs: waitMs + 60_000, waitMs });
  try {
    const ready = await process.ask("open", {
      ...{ transport: "http", url, roots: [], elicitation: false, sampling: false },
      ...{ name: "desk", deadlineMs: 60_000, a2a },
    }) as McpReady;
    return {
      ...{ process, ready },
      words: async () => await process.ask("words", null) as PeerWords,
      send: async (args, { key = "0".repeat(64), waitMs, id } = {}) =>
        await process.ask("call", {
          ...timed(waitMs),
          ...{ tool: "echo", args, key },
          ...(id === undefined ? {} : { id }),
        }) as McpCallResult,
      task: async (body, waitMs) =>
        await process.ask("task", { ...timed(waitMs), ...body }) as McpCallResult,
      artifact: async (task, artifact) =>
        await process.ask("artifact", { ...timed(), task, artifact }) as McpCallResult,
      [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
    };
  } catch (error) {
    await process[Symbol.asyncDispose]();
    throw error;
  }
}

/** The texts of a result, joined. */
export function said({ parts }: McpCallResult): string {
  return parts.map((part) => part.kind === "text" ? part.text : `<${part.kind}>`).join("\n");
}

/** The fault's code and message that `work` rejects with. */
export async function faultOf(work: Promise<unknown>): Promise<string> {
  try {
    return `no fault: ${JSON.stringify(await work)}`;
  } catch (error) {
    const { code, message } = error as { readonly code: string; readonly message: string };
    return `${code}: ${message}`;
  }
}
