/**
 * Wires imported servers: their processes, the services for bridges, and the operator's operations.
 * Used by main_tools.ts.
 * @module
 */
import type { Leases } from "../contracts/authority/gate.ts";
import type { TaskId } from "../contracts/authority/ids.ts";
import type { CallInbox, InboxEntry } from "../contracts/exchange/inbox.ts";
import type { ImportedServer } from "../contracts/exchange/mcp.ts";
import type { GrantedCall } from "../contracts/task/power.ts";
import type { Powers } from "../contracts/task/process.ts";
import type { EventLog, Store } from "../contracts/task/store.ts";
import { type KernelConfig, workFolder } from "../contracts/wire/wire_control.ts";
import { changesOf } from "../bridges/mcp/review/tool_identity.ts";
import { effectOf, grantedEffect } from "../bridges/mcp/review/effect.ts";
import { descriptorDigest } from "../broker/mod.ts";
import type { Bus, Progress } from "./core/log/watch.ts";
import type { Children } from "./core/child/children.ts";
import { makeIntentPlaces } from "./task/task_history.ts";
import { covers, grantMounts } from "./core/lease/scope.ts";
import { disk } from "./main_powers.ts";
import { makeMcpAsks, makeMcpElicit } from "./power/mcp/asking.ts";
import { makeMcpCopies, type McpCopiesParts, type ServerCopies } from "./power/mcp/copies.ts";
import type { McpPlace, McpServe } from "./power/mcp/calls.ts";
import { forbiddenNames, type Forbids, makeMcpForbids } from "./power/mcp/standing.ts";
import { makeMcpHttp } from "./power/mcp/http.ts";
import { makeMcpLog } from "./power/mcp/log.ts";
import { makeMcpLook, NO_TASK } from "./power/mcp/look.ts";
import { makeMcpOps, makeMcpTokens, type McpOps } from "./power/mcp/tokens.ts";
import { makeMcpProxies } from "./power/mcp/proxies.ts";
import { makeMcpSample, type McpSampleParts } from "./power/mcp/sample.ts";
import { makeMcpServers, type McpServers } from "./power/mcp/servers.ts";
import { makeMcpTools, type McpTools } from "./power/mcp/mcp_tools.ts";
import type { Uses } from "../contracts/task/spending.ts";
import type { NetService } from "./power/net/net_service.ts";
import { makePeerMessages } from "./power/peer/messages.ts";
import type { ProcessTable } from "./core/process/table.ts";
import type { ReadPrivate } from "./core/log/read_events.ts";
import type { TaskFolders } from "./power/toolhost/toolhosts.ts";

/** The kernel's parts around imported servers. */
export interface WireMcpParts {
  readonly config: KernelConfig;
  readonly children: Pick<Children, "mcp" | "mcpServer" | "mcpTree">;
  readonly net: NetService;
  /** Additional parts of file copies: see kernel/power/command/places.ts. */
  readonly copying: Pick<McpCopiesParts, "bundle" | "disk" | "look">;
  readonly spawn: McpCopiesParts["spawn"];
  /** Known colours and labels of contents. */
  readonly contents: McpCopiesParts["contents"];
  /** Tells whether a file is later executed. */
  executes(path: string): boolean;
  readonly leases: Leases;
  readonly processes: ProcessTable;
  readonly questions: Parameters<typeof makeMcpAsks>[0]["questions"];
  readonly log: EventLog;
  readonly powers: Powers;
  readonly store: Pick<Store, "events">;
  readonly readPrivate: ReadPrivate;
  /** The task's model, for servers' requests. */
  readonly samplingOf: McpSampleParts["modelOf"];
  readonly policyNever: Forbids;
  /** Globs of the never-list for reading. */
  readonly neverRead: readonly string[];
  redeem(call: GrantedCall): void;
  onProgress(task: TaskId, progress: Progress): void;
  /** Budgets other than money. */
  readonly uses: Uses;
  readonly listen: Bus["listen"];
  /** Inboxes for peers' messages during calls, fetched at each call. */
  inbox(): { readonly calls: CallInbox };
  /** Messages framed as data for a model. */
  frame(entries: readonly InboxEntry[]): string;
  /** Writes a line to the kernel's own log. */
  note(line: string): void;
}

/** The imported servers of a kernel. */
export interface MainMcp {
  /** The tools of tasks, over the folders of open tasks. */
  of(folders: (task: TaskId) => TaskFolders | undefined): {
    readonly tools: McpTools;
    readonly processes: McpServers;
  };
  readonly ops: McpOps;
}

/** Copies for a look at a server, outside of any task; their changes are dropped. */
async function copiesOfLook(
  parts: WireMcpParts,
  server: ImportedServer,
): Promise<ServerCopies | undefined> {
  const { config, copying } = parts, grants = grantMounts({ mounts: [], mcp: [server] });
  const contentDir = `${workFolder(config)}/${NO_TASK}/content`;
  const copies = makeMcpCopies({
    ...{ ...parts, ...copying },
    folders: () => ({
      ...{ mounts: grants.mounts, grants, contentDir, scratchDir: contentDir },
      prepare: () => copying.disk.makeDir(contentDir),
      ...{ never: parts.neverRead, scratchQuota: 0 },
      ...{ overlay: () => [], recorded: () => [] },
    }),
  });
  return await copies.provide({ task: NO_TASK, server });
}

/** Wires imported servers; no process starts before the first call. */
export function wireMcp(parts: WireMcpParts): MainMcp {
  const { config, net, leases, processes, powers } = parts;
  const log = makeMcpLog(parts);
  const tokens = makeMcpTokens({ net, powers });
  const asks = makeMcpAsks(parts);
  let folders: (task: TaskId) => TaskFolders | undefined = () => undefined;
  const labelOf: McpTools["labelOf"] = (at) => tools.labelOf(at);
  const sampling = makeMcpSample({ asks, processes, log, labelOf, modelOf: parts.samplingOf });
  const elicit = makeMcpElicit({ asks, log, labelOf });
  const http = makeMcpHttp({
    ...{ net, tokens, log, uses: parts.uses },
    isLeased: (task, scope) =>
      leases.list(task).some(({ id, scope: held }) => covers(held, scope) && leases.alive(id)),
  });

  const serve: McpServe = Object.freeze<McpServe>({
    ...{ http: http.http, httpRead: http.httpRead, httpCancel: http.httpCancel },
    ...{ elicit, sample: sampling.sample, env: tokens.env },
    log: log.note,
    ended(at): void {
      http.ended(at);
      asks.ended(at);
    },
  });
  const intents = makeIntentPlaces((tool) => tool.startsWith("a2a_"));
  parts.listen(undefined, intents.saw);
  const proxies = makeMcpProxies(config.proxySockets, net);
  const servers = makeMcpServers({
    ...{ ...parts, serve, proxies },
    copies: makeMcpCopies({ ...parts, ...parts.copying, folders: (task) => folders(task) }),
    forbids: (at, path, right) => tools.forbids(at, path, right),
    forbiddenNames: forbiddenNames(parts.neverRead),
  });
  const forbidsAll = makeMcpForbids({ policyNever: parts.policyNever, wikis: [] });
  /** A look belongs to the operator: no lease applies, and requests are not logged to a task. */
  const look: McpOps["mcpLook"] = async ({ server, ...options }) => {
    const own = makeMcpHttp({ net, tokens, log: { note: () => undefined }, isLeased: () => true });
    let asked: McpPlace | undefined;
    const looking = makeMcpLook({
      ...{ children: parts.children, powers, proxies },
      copies: (looked) => copiesOfLook(parts, looked),
      forbids: (_at, ...touched) => forbidsAll(...touched),
      forbiddenNames: forbiddenNames(parts.neverRead),
      serve: { ...own, env: tokens.env, http: (at, body) => own.http(asked = at, body) },
    });
    try {
      return await looking(server, options);
    } finally {
      if (asked !== undefined) own.ended(asked);
    }
  };
  const tools = makeMcpTools({
    ...parts,
    ...{ servers, log, asks, sampling },
    messages: makePeerMessages({
      ...{ inbox: () => parts.inbox().calls, frame: parts.frame, intentOf: intents.of },
    }),
    review: { changes: changesOf, effectOf, grantedEffect },
    digestOf: descriptorDigest,
    lacking: (server) => server.secretEnv.find((name) => !Object.hasOwn(tokens.env(server), name)),
    artifacts: {
      ...{ powers, write: disk.write },
      async contentDir(task): Promise<string | undefined> {
        const open = folders(task);
        await open?.prepare();
        return open?.contentDir;
      },
    },
  });
  return Object.freeze<MainMcp>({
    of(given) {
      folders = given;
      return { tools, processes: servers };
    },
    ops: makeMcpOps({ ...parts, servers, tokens, look }),
  });
}
