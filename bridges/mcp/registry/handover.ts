/** The servers that a task gets, and lending the kernel their secrets. @module */
import { cleared, type Label } from "../../../contracts/authority/mod.ts";
import { Fault, toJson } from "../../../contracts/base/mod.ts";
import {
  ImportedServer,
  isPeer,
  type McpOAuth,
  type McpServerName,
} from "../../../contracts/exchange/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { RegistryPowers } from "./store/store.ts";
import { type McpNarrowing, type MergedMcp, NO_MCP } from "../../../config/mcp.ts";
import type { KernelLink } from "../../../launch/kernel/kernels.ts";
import { type PathPowers, whyMoved } from "./paths.ts";
import { type LockedServer, nounOf, openMcpLock } from "./lock.ts";
import { translatedAnew } from "./review.ts";
import {
  keepMcpOAuth,
  type KeepPowers,
  mcpSecretsOf,
  parseMcpOAuth,
  readMcpLoan,
} from "./secrets.ts";

/**
 * A server of remit.lock as a task gets it: with the reviewed tools that are neither switched off
 * nor suspended, narrowed by remit.yaml. A first look uses it, too, while there are no tools yet.
 */
export function importedOf(
  server: LockedServer,
  narrowing: McpNarrowing = { off: [] },
  ruled: Readonly<Record<string, Label>> = {},
): ImportedServer {
  const { off, clearance, samplingTokens, elicitation } = narrowing;
  const tools = server.reviewed.filter(({ tool, off: isOff, suspended }) =>
    !isOff && suspended === undefined && !off.includes(tool.tool)
  ).map(({ tool }) => tool);
  return ImportedServer.parse({
    ...{ name: server.name, launch: server.launch, grants: server.grants, env: server.env },
    ...{ secretEnv: server.secretEnv, secretHeaders: server.secretHeaders, offers: server.offers },
    tools,
    ...(server.seen === undefined ? {} : { revision: server.seen.protocol }),
    ...(server.direct === undefined ? {} : { direct: server.direct }),
    samplingTokens: Math.min(server.samplingTokens, samplingTokens ?? server.samplingTokens),
    elicitation: server.elicitation && elicitation !== false,
    clearance: [clearance, ruledClearance(server, ruled) ?? server.clearance]
      .reduce<Label>(
        (least, each) => each !== undefined && cleared(each, least) ? each : least,
        "secret",
      ),
  });
}

/**
 * The clearance of a server in remit.yaml: by `mcp:NAME` (`a2a:NAME`), URL or origin. The lowest of
 * several counts: a folder's own file may lower any of them.
 */
function ruledClearance(
  { name, launch }: Pick<LockedServer, "name" | "launch">,
  ruled: Readonly<Record<string, Label>>,
): Label | undefined {
  const sinks = [
    `${isPeer(launch) ? "a2a" : "mcp"}:${name}`,
    ...(launch.kind === "http" ? [launch.url, new URL(launch.url).origin] : []),
  ].map((sink) => sink.toLowerCase().replace(/\/$/, ""));
  return Object.entries(ruled)
    .filter(([sink]) => sinks.includes(sink.toLowerCase().replace(/\/$/, "")))
    .map(([, label]) => label)
    .reduce<Label | undefined>(
      (least, label) => least === undefined || cleared(label, least) ? label : least,
      undefined,
    );
}

/** Adds which of the writable paths are files now. */
export function withFiles(
  { disk }: Pick<RegistryPowers, "disk">,
  server: ImportedServer,
): ImportedServer {
  const files = server.grants.write.filter((path) => disk.stat(path)?.folder === false);
  return files.length === 0 ? server : { ...server, files };
}

/** Why a task cannot get an approved server now; undefined where it can. */
function whyNot(powers: PathPowers, server: LockedServer): string | undefined {
  for (const right of ["read", "write"] as const) {
    for (const path of server.grants[right]) {
      const why = whyMoved(powers, path, right);
      if (why !== undefined) {
        return `${why}; grant it again, or take it back: remit mcp grant ${server.name} --drop ${path}`;
      }
    }
  }
  if (server.secretEnv.length + server.secretHeaders.length === 0) return undefined;
  const kept = mcpSecretsOf(powers, server.name);
  const missing = [
    ...server.secretEnv.filter((name) => !kept.some((each) => "env" in each && each.env === name)),
    ...server.secretHeaders.filter((name) =>
      !kept.some((each) =>
        "header" in each ? each.header === name : "oauth" in each && name === "authorization"
      )
    ),
  ];
  return missing.length === 0
    ? undefined
    : `its secret ${
      missing.map((name) => `"${name}"`).join(", ")
    } is not kept; give it: remit mcp grant ${server.name}`;
}

/** A task's servers, and a sentence about each that is left out. */
interface TaskServers {
  readonly servers: readonly ImportedServer[];
  readonly notes: readonly string[];
}

/**
 * The approved servers, narrowed by remit.yaml; of an editor's servers only those in `handed`. A
 * server that is unusable now, or that remit.yaml names without approval, is left out with a note.
 *
 * @throws Fault `invalidInput` for a damaged remit.lock
 */
export function mcpOfTask(
  powers: RegistryPowers,
  { mcp = NO_MCP, policy }: {
    readonly mcp?: MergedMcp | undefined;
    readonly policy: { readonly clearance: Readonly<Record<string, Label>> };
  },
  handed: readonly McpServerName[] = [],
): TaskServers {
  const known = openMcpLock(powers).list();
  const notes: string[] = [];
  const leave = (name: McpServerName, why: string, noun = "MCP server"): void => {
    notes.push(`${noun} ${name} is left out: ${displayText(why, { max: 500 })}`);
  };
  for (const name of mcp.use ?? []) {
    const state = known.find((each) => each.name === name)?.state;
    if (state !== "approved") leave(name, WHY_NOT_APPROVED[state ?? "unknown"]);
  }
  const servers = known.flatMap((server) => {
    if (server.state !== "approved" || mcp.use?.includes(server.name) === false) return [];
    if (server.from.kind === "editor" && !handed.includes(server.name)) return [];
    const writes = server.grants.write;
    const now = writes.length === 0 ? server : { ...server, reviewed: translatedAnew(server) };
    const imported = withFiles(powers, importedOf(now, mcp.servers[server.name], policy.clearance));
    const { offers } = imported;
    if (imported.tools.length === 0 && !offers.resources && !offers.prompts) return [];
    const why = whyNot(powers, server);
    if (why !== undefined) leave(server.name, why, nounOf(server));
    else if (writes.length > 0 && server.direct === undefined) {
      notes.push(
        `MCP server ${server.name}: what it changes is staged now, for your review; agree with remit mcp grant ` +
          `${server.name} --write ${
            displayText(writes[0] ?? "", { max: 300 })
          }, or have it write at once with --direct`,
      );
    }
    return why === undefined ? [imported] : [];
  });
  return { servers, notes };
}

const WHY_NOT_APPROVED = {
  unknown: "there is none of that name; see remit mcp list",
  added: "nobody approved it; see remit mcp review",
  revoked: "it was revoked; see remit mcp list",
} as const;

/** Lends a kernel the secrets of these servers, to each server its own and only what it was granted. */
export async function lendMcp(
  powers: KeepPowers,
  link: Pick<KernelLink, "ask">,
  servers: readonly ImportedServer[],
): Promise<void> {
  for (const { name, launch, secretEnv, secretHeaders } of servers) {
    if (secretEnv.length + secretHeaders.length === 0 && launch.kind !== "http") continue;
    const { env, headers, oauth } = readMcpLoan(powers, name);
    const only = (
      kept: Readonly<Record<string, string>>,
      granted: readonly string[],
    ): Record<string, string> =>
      Object.fromEntries(Object.entries(kept).filter(([key]) => granted.includes(key)));
    const tokens = launch.kind === "http" ? oauth : undefined;
    await link.ask(
      "mcpLend",
      toJson({
        ...{ server: name, env: only(env, secretEnv), headers: only(headers, secretHeaders) },
        ...(tokens === undefined ? {} : { oauth: tokens }),
      }),
    );
  }
}

/** Lends a kernel the secrets of all approved servers, for a task that began under an earlier kernel. */
export async function lendApproved(
  powers: Pick<RegistryPowers, "disk" | "store" | "places">,
  link: Pick<KernelLink, "ask">,
): Promise<void> {
  const approved = openMcpLock(powers).list().filter(({ state }) => state === "approved");
  if (approved.length === 0) return;
  await powers.store.ready();
  await lendMcp(powers, link, approved.map((each) => importedOf(each)));
}

/** Keeps the tokens that a kernel renewed: the old ones may be invalid now. */
export async function keepRenewed(
  powers: KeepPowers,
  link: Pick<KernelLink, "ask">,
  servers: readonly ImportedServer[],
): Promise<void> {
  for (const { name, launch } of servers) {
    if (launch.kind !== "http") continue;
    const before = readMcpLoan(powers, name).oauth;
    if (before === undefined) continue;
    let now: McpOAuth | undefined;
    try {
      now = parseMcpOAuth(await link.ask("mcpTokens", { server: name }));
    } catch (error) {
      // The kernel has ended with its tokens: the person has to log in again.
      if (!(error instanceof Fault)) throw error;
    }
    if (now !== undefined && now.accessToken !== before.accessToken) {
      keepMcpOAuth(powers, name, now);
    }
  }
}
