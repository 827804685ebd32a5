/**
 * The servers of `--story mcp`: one from npm, if available, and one of Remit's that changes its
 * descriptions. The story's task alone gets them; remit.lock is not changed.
 * @module
 */
import { basename, join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import {
  type ImportedServer,
  type McpGrants,
  McpLaunch,
  type McpServerName,
  NO_GRANTS,
} from "../../contracts/exchange/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, reachKernel } from "../command.ts";
import { provideLaunch } from "../../bridges/mcp/registry/fetch/provide.ts";
import { parseMcpName } from "../../bridges/mcp/registry/lock.ts";
import { askLook } from "../../bridges/mcp/registry/look.ts";
import { unflaggedTools } from "../../bridges/mcp/registry/review.ts";
import { registryOf } from "./work.ts";
import type { Basic } from "../powers.ts";

interface StoryServers {
  readonly servers: readonly ImportedServer[];
  /** Lines to print before the story starts. */
  readonly lines: readonly string[];
}

const PACKAGE = "@modelcontextprotocol/server-filesystem";
const VERSION = "2026.7.10";

/** Remit's own server: plain JavaScript, run by this Deno in a namespace. */
function ownLaunch(command: Command<Basic | "mcpStore">, words: readonly string[]): McpLaunch {
  const { environment, mcpStore } = command.powers;
  const folder = join(environment.home, "examples", "mcp");
  const program = mcpStore.find(mcpStore.deno);
  if (program === undefined) {
    throw new Fault("unavailable", "Cannot play the story: there is no Deno");
  }
  return McpLaunch.parse({
    ...{ kind: "program", program: program.path, sha256: program.sha256 },
    args: ["run", "--no-config", "--no-lock", "--cached-only", "-A"]
      .concat(join(folder, "server.mjs"), words),
    folders: [folder],
  });
}

function serverOf(name: McpServerName, launch: McpLaunch, grants: McpGrants): ImportedServer {
  return {
    ...{ name, launch, grants, env: {}, secretEnv: [], secretHeaders: [], tools: [] },
    ...{ offers: { resources: false, prompts: false }, samplingTokens: 0, elicitation: false },
    clearance: "internal",
  };
}

/** Keeps the launch of an earlier play, so that the next one needs no network. */
const keptFile = (command: Command): string => join(command.places.state, "mcp", "story.json");

/** The package of an earlier play, if its files are still there. */
function keptLaunch(command: Command): McpLaunch | undefined {
  const { disk } = command.powers;
  const bytes = disk.read(keptFile(command));
  if (bytes === undefined) return undefined;
  try {
    const launch = McpLaunch.parse(JSON.parse(new TextDecoder().decode(bytes)));
    const same = launch.kind === "npm" && launch.package === PACKAGE && launch.version === VERSION;
    if (!same) return undefined;
    const there = disk.stat(join(command.places.mcpTrees, launch.tree.id))?.folder === true;
    return there ? launch : undefined;
  } catch {
    // A damaged file counts as none: the package is fetched again.
    return undefined;
  }
}

/** The package, or Remit's own server where it cannot be fetched; `why` gives the reason. */
async function filesLaunch(
  command: Command<Basic | "mcpStore">,
  folder: string,
): Promise<{ readonly launch: McpLaunch; readonly why?: string }> {
  const { disk } = command.powers;
  const kept = keptLaunch(command);
  if (kept?.kind === "npm") return { launch: { ...kept, args: [folder] } };
  try {
    const wish = { kind: "npm" as const, package: PACKAGE, wanted: VERSION, args: [folder] };
    const { launch } = await provideLaunch(registryOf(command), wish);
    disk.write(keptFile(command), `${JSON.stringify(launch)}\n`);
    return { launch };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { launch: ownLaunch(command, ["files", folder]), why: error.message };
  }
}

/** Starts each server once and pins what is not flagged, as `mcp add --yes` does. */
async function pinned(
  command: Command<Basic | "mcpStore">,
  servers: readonly ImportedServer[],
): Promise<readonly ImportedServer[]> {
  await command.powers.mcpStore.ready();
  const link = await reachKernel(command);
  try {
    const done: ImportedServer[] = [];
    for (const server of servers) {
      const { words, ended = "it was too slow" } = await askLook(link, server, false);
      if (words === undefined) {
        throw new Fault(
          "upstream",
          `Cannot play the story: "${server.name}" gave no answer: ${ended}`,
        );
      }
      done.push({ ...server, tools: unflaggedTools(server, words) });
    }
    return done;
  } finally {
    link.close();
  }
}

/** The story's servers over a desk: its `notes` may be read, nothing else. */
export async function provideStoryServers(
  command: Command<Basic | "mcpStore">,
  desk: string,
): Promise<StoryServers> {
  const { disk } = command.powers;
  const notes = join(disk.real(desk) ?? desk, "notes");
  disk.link(join(notes, "guest-list"), "/etc/passwd");
  const { launch, why } = await filesLaunch(command, notes);
  const servers = await pinned(command, [
    serverOf(parseMcpName("files"), launch, { ...NO_GRANTS, read: [notes] }),
    serverOf(parseMcpName("tides"), ownLaunch(command, ["tides"]), NO_GRANTS),
  ]);
  return {
    servers,
    lines: [
      ...(why === undefined
        ? [`  files     ${PACKAGE} ${VERSION}, which may read ${basename(notes)}`]
        : [
          `  files     a server of ours, which may read ${
            basename(notes)
          }; the one of npm is not at hand:`,
          `            ${displayText(why, { max: 300 })}`,
        ]),
      "  tides     a server of ours, which may read nothing, and changes after its first answer",
    ],
  };
}
