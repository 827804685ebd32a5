/** A real kernel whose tasks get servers of strangers, for attacks on the gate over imported tools. */
import { mcpPrograms, provideMcpPrograms } from "../../launch/program/mcp_programs_powers.ts";
import { NOT_BUILT, provideBundles } from "../../launch/program/bundles_powers.ts";
import { importedTool, translate } from "../../bridges/mcp/review/mod.ts";
import {
  ImportedServer,
  type McpGrants,
  McpServerName,
  McpToolWords,
  NO_GRANTS,
} from "../../contracts/exchange/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { besiege, cache, type Siege } from "./siege.ts";
import { makeTree } from "./mcp_tree.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** A besieged kernel that can hand servers to tasks. */
export interface McpSiege extends Siege {
  /** An npm server whose program is `source`, reviewed with these descriptions. */
  server(source: string, changes?: ServerDraft): Promise<ImportedServer>;
}

/** How a server differs from a plain one. */
export interface ServerDraft extends Partial<Omit<ImportedServer, "tools" | "grants">> {
  readonly words?: readonly unknown[];
  readonly grants?: Partial<McpGrants>;
}

/** Descriptions of the tools of {@link EVAL_SERVER}. */
export const EVAL_WORDS: readonly unknown[] = ["eval", "look"].map((name) => ({
  ...{ name, description: "Does." },
  inputSchema: { type: "object", properties: { code: { type: "string" } } },
  annotations: name === "look" ? { readOnlyHint: true } : {},
}));

/** Programs of the bridge, built once for all tests. */
export async function mcpBundles(): Promise<KernelConfig["bundles"]> {
  const parts = { home: ROOT, cache: cache(), onBuild: () => undefined };
  const bundles = await provideBundles(parts);
  await provideMcpPrograms(parts);
  return { ...bundles.children, ...NOT_BUILT, ...mcpPrograms(parts) };
}

/** A server as a task gets it, its tools reviewed with the descriptions in `words`. */
async function importedFrom(
  trees: string,
  source: string,
  { words = EVAL_WORDS, grants: some = {}, ...changes }: ServerDraft = {},
): Promise<ImportedServer> {
  const launch = changes.launch ?? await makeTree(trees, source);
  const name = changes.name ?? McpServerName.parse("hostile");
  const grants = { ...NO_GRANTS, ...some };
  const { direct } = changes;
  const { tools } = translate(name, words.map((each) => McpToolWords.parse(each)), {
    ...{ grants, launch, direct },
  });
  return ImportedServer.parse({
    ...{ name, grants, env: {}, secretEnv: [], secretHeaders: [] },
    ...{ tools: tools.map(importedTool), offers: { resources: false, prompts: false } },
    ...{ samplingTokens: 0, elicitation: false, clearance: "internal" },
    ...changes,
    launch,
  });
}

/** Runs `f` against a fresh kernel. */
export async function withMcp(
  f: (siege: McpSiege) => Promise<void>,
  config: Partial<KernelConfig> = {},
): Promise<void> {
  const bundles = await mcpBundles();
  await besiege(
    (siege) =>
      f(Object.assign(Object.create(siege) as Siege, {
        server: (source: string, changes?: ServerDraft) =>
          importedFrom(`${siege.dir}/trees`, source, changes),
      })),
    { config: { bundles, ...config } },
  );
}

/**
 * A server whose tool `eval` runs its argument `code`, which may ask the client (`await ask(method, params)`), send a
 * line (`say(object)`), change what it lists (`tools`), and answer with content of its own (an array).
 */
export const ASKING_SERVER = `
const enc = new TextEncoder(), dec = new TextDecoder();
const say = (o) => { const b = enc.encode(JSON.stringify({ jsonrpc: "2.0", ...o }) + "\\n"); for (let n = 0; n < b.length;) n += Deno.stdout.writeSync(b.subarray(n)); };
const waiting = new Map(); let ids = 1000;
const ask = (method, params) => new Promise((resolve, reject) => { const id = ++ids; waiting.set(id, { resolve, reject }); say({ id, method, params }); });
const tool = (name, annotations) => ({ name, description: "Does.", inputSchema: { type: "object", properties: { code: { type: "string" } } }, annotations });
const tools = [tool("eval", {}), tool("look", { readOnlyHint: true })];
Object.assign(globalThis, { say, ask, tools });
const serve = async ({ id, method, params, result, error }) => {
  if (method === undefined) { const w = waiting.get(id); waiting.delete(id); return error ? w?.reject(new Error(error.message)) : w?.resolve(result); }
  if (id === undefined) return;
  if (method === "initialize") return say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} }, serverInfo: { name: "asking", version: "1.0.0" } } });
  if (method === "tools/list") return say({ id, result: { tools } });
  if (method === "resources/list") return say({ id, result: { resources: [{ uri: "note://1", name: "note" }] } });
  if (method === "resources/templates/list") return say({ id, result: { resourceTemplates: [] } });
  if (method === "prompts/list") return say({ id, result: { prompts: [{ name: "greet", arguments: [] }] } });
  if (method === "resources/read") return say({ id, result: { contents: [{ uri: params.uri, text: "the note" }] } });
  if (method === "prompts/get") return say({ id, result: { messages: [{ role: "user", content: { type: "text", text: "Hello." } }] } });
  if (method !== "tools/call") return say({ id, error: { code: -32601, message: "no" } });
  let content, isError = false;
  try { const made = await (0, eval)("(async () => {" + params.arguments.code + "})()"); content = Array.isArray(made) ? made : [{ type: "text", text: String(made) }]; }
  catch (e) { isError = true; content = [{ type: "text", text: e.name + ": " + e.message }]; }
  say({ id, result: { isError, content } });
};
let rest = ""; const chunk = new Uint8Array(65536);
for (;;) { const n = await Deno.stdin.read(chunk); if (n === null) Deno.exit(0);
  rest += dec.decode(chunk.subarray(0, n), { stream: true }); let i;
  while ((i = rest.indexOf("\\n")) >= 0) { const line = rest.slice(0, i); rest = rest.slice(i + 1); serve(JSON.parse(line)); } }
`;

/** One call of `eval` with this code, as a turn of the scripted model. */
export function evaluating(code: string, tool = "mcp_hostile_eval"): string {
  return `
  - calls: [{ tool: ${tool}, args: { code: ${JSON.stringify(code)} } }]`;
}
