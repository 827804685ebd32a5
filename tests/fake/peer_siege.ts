/** Peers as tasks of a besieged kernel get them: inspected, and reviewed as found. */
import { importedTool, translate } from "../../bridges/mcp/review/mod.ts";
import { parseLook } from "../../bridges/mcp/registry/look.ts";
import type { Json } from "../../contracts/base/mod.ts";
import {
  ImportedServer,
  isPeer,
  McpServerName,
  NO_GRANTS,
  PeerFacts,
} from "../../contracts/exchange/mod.ts";
import type { Siege } from "./siege.ts";

/** The peer at `url`, under this name. */
export async function peerIn(siege: Siege, name: string, url: string): Promise<ImportedServer> {
  const draft = {
    ...{ name: McpServerName.parse(name), grants: NO_GRANTS, env: {}, secretEnv: [] },
    ...{ secretHeaders: [], tools: [], samplingTokens: 0, elicitation: false },
    ...{ offers: { resources: false, prompts: false }, clearance: "public" },
    launch: { kind: "http", url, a2a: { endpoint: url, binding: "JSONRPC", keys: [] } },
  };
  const asked = { server: ImportedServer.parse(draft), observe: false, deadlineMs: 300_000 };
  const { words, ended } = parseLook(await siege.ask("mcpLook", asked) as Json);
  if (words === undefined || !("peer" in words)) throw new Error(`Cannot look: ${ended}`);
  const { card, ...a2a } = PeerFacts.parse(words.peer);
  const launch = { kind: "http" as const, url: card, a2a };
  if (!isPeer(launch)) throw new Error("Cannot use the peer: it is none");
  const { tools } = translate(draft.name, words.tools, { grants: NO_GRANTS, launch });
  return ImportedServer.parse({ ...draft, launch, tools: tools.map((each) => importedTool(each)) });
}
