/** Wires the tools: files, web, plugins and commands. Used by main_work.ts. @module */
import {
  claimantOf,
  frameMessages,
  MAIL_DESCRIPTORS,
  type MailParts,
  makeNamesStore,
  makeTaskMail,
  type Offers,
  peerArtifact,
  RESOURCE_TOOLS,
  resourceBindings,
  type Resources,
} from "../agents/mod.ts";
import { descriptorDigest, isSignedBy, makeMisfits, type Pins, type Plans } from "../broker/mod.ts";
import { chromiumManifest, screenshotBinding } from "../browser/mod.ts";
import { Box, Sender } from "../contracts/exchange/inbox.ts";
import { LAL_PROGRAM } from "../contracts/exchange/lal.ts";
import { programOf } from "../contracts/exchange/mail.ts";
import type { ContentTrust } from "../contracts/memory/content_trust.ts";
import type { Leases } from "../contracts/authority/gate.ts";
import { TaskId } from "../contracts/authority/ids.ts";
import { type ConflictReport, ResourceScope } from "../contracts/task/resources.ts";
import type { GrantedCall } from "../contracts/task/power.ts";
import type { ProcessKeeper } from "../contracts/task/process.ts";
import type { EventLog, Store } from "../contracts/task/store.ts";
import type { TaskRequest } from "../contracts/task/task.ts";
import type { KernelConfig } from "../contracts/wire/wire_control.ts";
import type { Artifact } from "../contracts/tool/workspace.ts";
import { bindMemory, MEMORY_DESCRIPTORS } from "../memory-wiki/mod.ts";
import { httpFetchBinding, isPublic, labelOfAnswer, originOf } from "../net/mod.ts";
import { bindPlugin, descriptorOf } from "../tools-wasm/binding/mod.ts";
import {
  bindCommand,
  bindProcesses,
  commandDescriptor,
  processDescriptors,
} from "../tools-wasm/command/mod.ts";
import { makeWorkspace, WORKSPACE_TOOLS } from "../workspace/mod.ts";
import { canonicalJson } from "../port/mod.ts";
import type { Children } from "./core/child/children.ts";
import { makeAgentRuns } from "./power/agent/runs.ts";
import { clearRooms, makeRunPowers } from "./power/command/command_spawn_powers.ts";
import { makeCommands } from "./power/command/commands.ts";
import { makePins } from "./power/command/pins.ts";
import { makeLook } from "./power/command/run.ts";
import type { Uses } from "../contracts/task/spending.ts";
import { covers } from "./core/lease/scope.ts";
import { type MainMcp, wireMcp, type WireMcpParts } from "./main_mcp.ts";
import { disk } from "./main_powers.ts";
import { makeNamedOrigins, makeNetService, type NetService } from "./power/net/net_service.ts";
import { openProfiles, type Profiles } from "./power/net/profiles.ts";
import { ARTIFACT_READ, artifactReadBinding, type PeerFile } from "./power/peer/artifact_read.ts";
import { bindPeerTools, PEER_TOOLS, type PeerExchange } from "./power/peer/peer_tools.ts";
import { makeLongRunPowers } from "./power/command/process_powers.ts";
import { makeProcessSessions } from "./power/command/process_sessions.ts";
import { provideCommandWalls } from "./core/start/walls.ts";
import type { SpawnPowers } from "./core/start/spawn.ts";
import { makePlanned, type Planned } from "./task/planned.ts";
import type { TaskFamily } from "./task/task_host.ts";
import {
  type MailTools,
  makeTaskTools,
  type TaskTools,
  type TaskToolsParts,
} from "./task/task_tools.ts";
import { makeWikiServices, type WikiServicesParts } from "./power/wiki/wiki_services.ts";
import { makeWikiTools, type StalePage } from "./power/wiki/wiki_tools.ts";

interface WireToolsParts
  extends
    Omit<WireMcpParts, "net" | "children" | "copying" | "samplingOf" | "store" | "inbox" | "frame">,
    Pick<WireMailParts, "leases">,
    Pick<
      TaskToolsParts,
      "toolhosts" | "code" | "engine" | "clearanceOf" | "secret" | "provenance"
    > {
  readonly config: KernelConfig;
  readonly store: WireMcpParts["store"] & WireMailParts["store"];
  readonly children:
    & TaskToolsParts["children"]
    & WikiServicesParts["children"]
    & WireMcpParts["children"]
    & Pick<Children, "lookForLeft">
    & Parameters<typeof makeNetService>[0];
  readonly pins: Pins;
  /** This kernel's receipt key, which names its state. */
  readonly receiptKey: string;
  readonly plans: Plans;
  inbox(): ReturnType<WireMcpParts["inbox"]> & ReturnType<WireMailParts["inbox"]>;
  readonly uses: Uses;
  /** Shared resources, fetched at each call, because tools are wired before them. */
  resources(): Resources;
  /** A running task: its gate, model and files. */
  family(task: TaskId): TaskFamily | undefined;
  readonly spawn: SpawnPowers;
  /** Known colours and labels of contents. */
  readonly contents: ContentTrust;
  /** Tells whether a file is later executed. */
  executes(path: string): boolean;
  redeem(call: GrantedCall): void;
  /** The exchange of a task. */
  exchangeOf(task: TaskId): PeerExchange | undefined;
  /** The bytes of an artifact. Rejects with `notFound`. */
  read(artifact: Artifact): Promise<Uint8Array>;
}

/** The tools of a kernel, and the operator's operations on imported servers. */
interface MainTools extends TaskTools {
  readonly mcp: MainMcp["ops"];
  readonly related: MainMail["related"];
  readonly net: NetService;
  readonly planned: Planned;
  /** Undefined in a fleet. */
  readonly profiles: Profiles | undefined;
}

/** Wires the tools of a kernel; built-in tools count as reviewed. Rejects with `conflict` when two tools share a name. */
export async function wireTools(parts: WireToolsParts): Promise<MainTools> {
  const { config, powers, processes, redeem, executes, family, contents } = parts;
  const misfit = makeMisfits();
  const walls = await provideCommandWalls(config, parts.spawn);
  await clearRooms(`${config.dir}/work`);
  // Sockets of relays that a killed kernel left.
  await clearRooms(config.runtime);
  const programs = makeRunPowers(parts.children.lookForLeft);
  const look = makeLook(programs, config.programs.prlimit);
  const running = { disk, walls, look, bundle: config.bundles.copy };
  const pins = makePins({ ...parts, ...running });
  const net = makeNetService(
    parts.children,
    makeNamedOrigins({ file: `${config.dir}/origins`, disk, isPublic, note: parts.note }),
  );
  const mail = wireMail(parts);
  const mcp = wireMcp({
    ...{ ...parts, net, copying: { disk, look, bundle: config.bundles.copy } },
    ...{ samplingOf: (task) => family(task)?.sampling },
    frame: (entries) => frameMessages(entries).content,
  });
  const planned = makePlanned({
    // Loads a parser, so it is loaded only for planned programs.
    load: () => import("../planned/mod.ts"),
    digestOf: descriptorDigest,
    ...{ plans: parts.plans, redeem, processOf: processes.get, misfit },
    modelOf: (task) => family(task)?.sampling,
  });
  const profiles = await wireProfiles(parts);
  const tools = makeTaskTools({
    ...{ ...parts, profiles },
    planned: planned.bindings,
    ...{ originOf, labelOf: labelOfAnswer, net, mcp: mcp.of },
    gateOf: (task) => family(task)?.gate,
    modelOf: (task) => family(task)?.aside,
    looking: (task) => family(task)?.workspace,
    offspring: (task, pid) => family(task)?.offspring(pid),
    wikis: makeWikiTools({
      ...{ redeem, now: powers.now, uses: parts.uses },
      ...{ stale: (call, found) => reportStale(parts, call, found) },
      wikis: makeWikiServices({ ...parts, trustedKeys: [config.personKey] }),
      memory: { descriptors: Object.values(MEMORY_DESCRIPTORS), bind: bindMemory },
    }),
    mail,
    shared: {
      descriptors: RESOURCE_TOOLS,
      bindings: resourceBindings({
        ...{ redeem, now: powers.now, processOf: processes.get, resources: parts.resources },
      }),
    },
    files: WORKSPACE_TOOLS.map(({ descriptor }) => descriptor),
    web: ({ forCall }) => [httpFetchBinding({ redeem, fetch: forCall })],
    binding: {
      descriptor: descriptorOf,
      bind: ({ manifest, tool, descriptor }, { looking: { readScope }, run }) =>
        bindPlugin(manifest, tool, { readScope, originOf, redeem, misfit, run }, descriptor),
    },
    workspace: (task, mounts, hosts) =>
      makeWorkspace({
        ...{ task, mounts, powers, redeem, contents },
        // A folder granted to a server may itself hold files that are later executed.
        executes: (path) =>
          executes(path) || mounts.some(({ name, dir, apart }) =>
            apart === true && path.startsWith(`${name}/`) &&
            executes(`${dir}${path.slice(name.length)}`)
          ),
        host: { call: (body, { pid, ...options }) => hosts.call(task, pid, body, options) },
      }),
    browser: {
      manifest: chromiumManifest,
      screenshot: (take) => screenshotBinding({ redeem, take }),
    },
    commands: (folders) =>
      makeCommands({
        ...parts,
        ...{ ...running, folders, programs, pins },
        agents: makeAgentRuns({
          ...{ ...parts, disk, programs },
          portOf(task, { pid, ...run }) {
            const row = processes.get(pid);
            return row === undefined ? undefined : family(task)?.foreign({ ...run, row });
          },
        }),
      }),
    sessions: (folders) =>
      makeProcessSessions({
        ...parts,
        ...{ ...running, folders, programs: makeLongRunPowers(parts.children.lookForLeft), pins },
      }),
    peers: {
      descriptors: [...PEER_TOOLS, ARTIFACT_READ],
      bind(task, { artifacts }, { mcp: servers = [] }) {
        const { read } = parts, exchange = parts.exchangeOf(task);
        if (exchange === undefined && servers.length === 0) return [];
        const reads = artifactReadBinding({
          ...{ peer: exchange?.peer, artifacts, read, redeem },
          async files(): Promise<readonly PeerFile[]> {
            if (exchange === undefined) return [];
            const shown = await parts.inbox().past({ box: Box.parse(`task:${task}`) });
            return await exchange.files(
              new Set(
                shown.filter(({ state }) => state === "delivered").map(({ message }) => message.id),
              ),
            );
          },
        });
        if (exchange === undefined) return [reads];
        return [
          ...bindPeerTools({ exchange, artifacts, read, redeem, shown: peerArtifact }),
          reads,
        ];
      },
    },
    sessionTools: {
      descriptors: processDescriptors(config.commands),
      bind: ({ made: { readScope, fold }, sessions }) =>
        bindProcesses({
          ...{ readScope, fold, sessions, redeem },
          ...{ classes: config.commands, processOf: processes.get },
        }),
    },
    command: {
      descriptor: (sandbox) => commandDescriptor(sandbox, config.commands),
      bind: ({ sandbox, descriptor, made: { readScope, fold }, run }) =>
        bindCommand({
          ...{ sandbox, descriptor, readScope, fold, run, redeem },
          ...{ classes: config.commands, processOf: processes.get },
        }),
    },
  });
  for (const descriptor of tools.descriptors) parts.pins.review(descriptor);
  return Object.freeze({ ...tools, mcp: mcp.ops, net, related: mail.related, planned, profiles });
}

/** The browser profiles of agents. A fleet has none: a profile's cookies and its current task belong to one kernel. */
async function wireProfiles(
  { config, log, powers, note, resources, receiptKey }: WireToolsParts,
): Promise<Profiles | undefined> {
  if (config.store !== undefined) return undefined;
  return await openProfiles({
    ...{ log, powers, note, disk, dir: `${config.dir}/profiles`, kernelKey: receiptKey },
    configured: config.browser.profiles ?? {},
    signed: (claim, signature) => isSignedBy(config.personKey, canonicalJson(claim), signature),
    claim: (row, resource) =>
      resources().claim({ resource, scope: "", mode: "exclusive" }, claimantOf(row)),
    release: (row, lease) => resources().release(lease, claimantOf(row).owner),
  });
}

/** Records a stale page as a conflict of two tasks; undefined where that fails. */
async function reportStale(
  { processes, resources, note }: Pick<WireToolsParts, "processes" | "resources" | "note">,
  call: GrantedCall,
  { resource, page, base, found, by }: StalePage,
): Promise<ConflictReport | undefined> {
  const row = processes.get(call.pid), scope = ResourceScope.safeParse(page);
  if (row === undefined || !scope.success) return undefined;
  const holder = TaskId.safeParse(by.replace(/^task:/, ""));
  try {
    return await resources().report(
      {
        ...{ resource, scope: scope.data, about: "version" },
        ...(holder.success ? { holder: { task: holder.data, agent: "" } } : {}),
        observed: { kind: "revision", value: `${base}` },
        current: { kind: "revision", value: `${found}` },
      },
      claimantOf(row),
      { told: true },
    );
  } catch (error) {
    // The write is refused anyway.
    note(`The conflict over a page was not kept: ${String(error)}`);
    return undefined;
  }
}

interface WireMailParts extends Pick<MailParts, "inbox" | "redeem"> {
  readonly store: Pick<Store, "document">;
  readonly log: EventLog;
  readonly leases: Leases;
  readonly processes: Pick<ProcessKeeper, "get">;
  /** A running task. */
  family(task: MailParts["task"]): Pick<TaskFamily, "gate"> | undefined;
}

/** Mail of a kernel's tasks. */
interface MainMail extends MailTools {
  /** Tells whether task `a` has read a letter of task `b`, and so may answer. */
  related(a: TaskId, b: TaskId): boolean;
}

/** Wires the mail of tasks. */
function wireMail(parts: WireMailParts): MainMail {
  const { leases, processes, family, redeem, inbox } = parts;
  const names = makeNamesStore(parts);
  const offers: Offers = new Map();
  const descriptors = Object.values(MAIL_DESCRIPTORS);
  const known: ReadonlySet<string> = new Set(descriptors.map(({ name }) => name));
  const correspondents = new Set<string>();
  return Object.freeze<MainMail>({
    descriptors,
    related: (a, b) => correspondents.has(`${a} ${b}`),
    of(task, request): ReturnType<MailTools["of"]> {
      const granted = request.agent?.capabilities?.some(({ tool }) => known.has(tool)) ?? false;
      if (programOf(request) !== LAL_PROGRAM && !granted) return undefined;
      const agent = request.agent?.name ?? "agent";
      return makeTaskMail({
        ...{ task, agent, leases, offers, covers, inbox, redeem },
        peer: peerOf(request),
        names: names.of(agent, task),
        processOf: processes.get,
        gate: () => family(task)?.gate,
        heard: (from) => void correspondents.add(`${task} ${from}`),
      });
    },
  });
}

/** The peer of a task's request, from its exchange. */
function peerOf({ ingress }: Partial<Pick<TaskRequest, "ingress">>): Sender | undefined {
  return ingress?.channel === "a2a" ? Sender.parse(ingress.principal) : undefined;
}
