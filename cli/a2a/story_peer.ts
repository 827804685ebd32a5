/**
 * The peer of `--story a2a`: another Remit on this machine, reviewed like any peer, and given to the story's task only;
 * remit.lock stays as it is.
 * @module
 */
import { join } from "node:path";
import { Fault, toJson } from "../../contracts/base/mod.ts";
import { type ImportedServer, isPeer } from "../../contracts/exchange/mod.ts";
import { type Command, withKernel } from "../command.ts";
import { parseMcpName } from "../../bridges/mcp/registry/lock.ts";
import { askLook } from "../../bridges/mcp/registry/look.ts";
import { unflaggedTools } from "../../bridges/mcp/registry/review.ts";
import { forgetMcpSecrets, keepMcpSecret } from "../../bridges/mcp/registry/secrets.ts";
import { lockOf, registryOf } from "../mcp/work.ts";
import { preparePlaces } from "../../launch/disk/places.ts";
import { factsOf, launchBy } from "./peer_work.ts";
import type { Basic } from "../powers.ts";

/** A running peer of a story. */
export interface StoryPeer {
  readonly url: string;
  /** The token by which the peer recognizes this Remit. */
  readonly token: string;
  close(): Promise<void>;
}

const NAME = parseMcpName("harbour");
/** This Remit's name in the peer's configuration. */
const OUR_NAME = "story";

/** The peer's configuration: it has one peer, whose messages it answers at once with a scripted model. */
function configOf(scenario: string): string {
  return JSON.stringify({
    version: 1,
    serve: {
      name: "Harbour desk",
      description: "The harbour's own agent.",
      ...{ mcp: false, page: false, metrics: false },
      skills: [{
        id: "tides",
        name: "Tide tables",
        description: "Tells when the tide is high at a quay.",
      }],
    },
    peers: { [OUR_NAME]: { accept: "auto", clearance: "internal", model: `scripted:${scenario}` } },
  });
}

/** Starts the peer, fetches its card and pins its skill. Throws Fault `unavailable`, `upstream`, `conflict`. */
export async function provideStoryPeers(
  command: Command<Basic | "mcpStore" | "startPeer">,
  steering: string,
): Promise<{
  readonly servers: readonly ImportedServer[];
  /** Lines to show before the start. */
  readonly lines: readonly string[];
  close(): Promise<void>;
}> {
  const { powers, places } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  if (lockOf(command).find(NAME) !== undefined) {
    throw new Fault(
      "conflict",
      `Cannot play the story: you have a peer or a server named "${NAME}"; play it in another --state DIR`,
    );
  }
  const peer = await powers.startPeer({
    folder: powers.disk.temporary("remit-story-"),
    config: configOf(join(steering, "peer.yaml")),
    name: OUR_NAME,
  });
  const close = async (): Promise<void> => {
    forgetMcpSecrets(registryOf(command), NAME);
    await peer.close();
  };
  try {
    keepMcpSecret(registryOf(command), NAME, { header: "authorization" }, `Bearer ${peer.token}`);
    const server = await pinned(command, peer);
    const [key = ""] = isPeer(server.launch) ? server.launch.a2a.keys : [];
    return {
      servers: [server],
      lines: [
        `  peer      ${NAME}, another Remit at ${
          new URL(peer.url).host
        }, which the command started;`,
        `            its card is signed by ${
          key.slice(0, 12)
        }…, and pinned as "remit a2a add" does`,
      ],
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Fetches the peer's card once and pins what is not flagged, as `a2a add --yes` does. */
async function pinned(
  command: Command<Basic | "mcpStore">,
  { url, token }: StoryPeer,
): Promise<ImportedServer> {
  const draft: ImportedServer = {
    name: NAME,
    launch: { kind: "http", url, a2a: { endpoint: url, binding: "JSONRPC", keys: [] } },
    ...{ grants: { read: [], write: [], net: [] }, env: {}, secretEnv: [] },
    ...{ secretHeaders: ["authorization"], tools: [], samplingTokens: 0, elicitation: false },
    ...{ offers: { resources: false, prompts: false }, clearance: "public" },
  };
  await command.powers.mcpStore.ready();
  return await withKernel(command, async (link) => {
    await link.ask(
      "mcpLend",
      toJson({ server: NAME, env: {}, headers: { authorization: `Bearer ${token}` } }),
    );
    const { words, ended = "it was too slow" } = await askLook(link, draft, false);
    if (words === undefined) {
      throw new Fault("upstream", `Cannot play the story: the peer gave no answer: ${ended}`);
    }
    const launch = launchBy(factsOf(words));
    return { ...draft, launch, tools: unflaggedTools({ ...draft, launch }, words) };
  });
}
