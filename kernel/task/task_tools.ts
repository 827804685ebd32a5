/**
 * All tools of a task: files, plugins, the web, imported servers. main.ts hands the parts over,
 * because only main.ts may import them. Wired in kernel/main_tools.ts and trial.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { Leases } from "../../contracts/authority/gate.ts";
import { type TaskId, ToolName } from "../../contracts/authority/ids.ts";
import type { ValueKeeper } from "../../contracts/authority/origin.ts";
import type { PluginManifest } from "../../contracts/tool/plugin.ts";
import type { GrantedCall, ToolBinding } from "../../contracts/task/power.ts";
import type { Powers, ProcessKeeper } from "../../contracts/task/process.ts";
import type { EventLog } from "../../contracts/task/store.ts";
import type { TaskRequest } from "../../contracts/task/task.ts";
import { isImported, type ToolDescriptor } from "../../contracts/tool/tool.ts";
import type { KernelConfig, Secret } from "../../contracts/wire/wire_control.ts";
import type { Mount } from "../../contracts/tool/workspace.ts";
import {
  type BrowserSessions,
  countingPages,
  makeBrowserSessions,
} from "../power/plugin/browser_sessions.ts";
import type { Children } from "../core/child/children.ts";
import type { Commands } from "../power/command/run.ts";
import type { TaskSessions } from "../power/command/process_sessions.ts";
import { type Fetching, makeFetching } from "../power/net/fetching.ts";
import type { HostFunctionsParts, Looking } from "../power/plugin/host_functions.ts";
import { type Engine, makePluginHosts, type PluginCode } from "../power/plugin/hosts.ts";
import { type BindPlugins, makePluginTools } from "../power/plugin/plugin_tools.ts";
import {
  type MadeWorkspace,
  makeTaskWorkspace,
  type TaskMail,
  type TaskWorkspace,
} from "./workspace.ts";
import type { McpRequest, McpTools } from "../power/mcp/mcp_tools.ts";
import { grantMounts } from "../core/lease/scope.ts";
import type { McpServers } from "../power/mcp/servers.ts";
import type { Uses } from "../../contracts/task/spending.ts";
import type { NetService } from "../power/net/net_service.ts";
import type { Profiles } from "../power/net/profiles.ts";
import { guardWikis, type MemoryRequest, type WikiTools } from "../power/wiki/wiki_tools.ts";
import type { TaskFolders, Toolhosts } from "../power/toolhost/toolhosts.ts";
import { AGENT_TOOLS, agentToolBindings, type AgentToolsParts } from "./agent_tools.ts";
import { LAL_PROGRAM } from "../../contracts/exchange/lal.ts";
import { programOf } from "../../contracts/exchange/mail.ts";
import { isPlanned, type Planned, PLANNED_TOOLS } from "./planned.ts";
import { needsDescribing, TOOL_DESCRIBE, toolDescribeBinding } from "./session/offered_tools.ts";
import { TOOL_SEARCH, toolSearchBinding } from "./session/tool_search.ts";
import type { TaskPrograms } from "../core/process/limits.ts";
import { declareBinding, TOOLS_DECLARE } from "./declare_tool.ts";
import type { Progress } from "../core/log/watch.ts";

const COMMAND = ToolName.parse("command");
const BROWSER = "browser";

/** The parts of all tools. */
export interface TaskToolsParts {
  readonly config: Pick<KernelConfig, "tools" | "commands" | "browser">;
  /** A secret of the operator, as it is now. */
  secret(name: string): Secret | undefined;
  readonly children: Pick<Children, "plugin" | "browser">;
  readonly net: NetService;
  readonly toolhosts: Toolhosts;
  readonly leases: Pick<Leases, "covering">;
  readonly log: EventLog;
  readonly processes: Pick<ProcessKeeper, "get" | "taint">;
  readonly powers: Powers;
  /** Budgets other than money; absent: there are none. */
  readonly uses?: Uses;
  readonly code: PluginCode;
  readonly engine?: Engine | undefined;
  readonly binding: BindPlugins;
  /** Browser profiles of agents. */
  readonly profiles?: Profiles | undefined;
  readonly originOf: HostFunctionsParts["originOf"];
  readonly labelOf: HostFunctionsParts["labelOf"];
  readonly clearanceOf: HostFunctionsParts["clearanceOf"];
  /** A task's gate, which is itself made from these tools. */
  readonly gateOf: HostFunctionsParts["gateOf"];
  readonly modelOf: HostFunctionsParts["modelOf"];
  /** Descriptors of the tools over files. */
  readonly files: readonly ToolDescriptor[];
  workspace(task: TaskId, mounts: readonly Mount[], toolhosts: Toolhosts): MadeWorkspace & Looking;
  /** Runs programs of this machine, over the folders of open tasks. */
  commands(folders: (task: TaskId) => TaskFolders | undefined): Commands;
  /** Programs of this machine that outlive a call, over the same folders. */
  sessions(folders: (task: TaskId) => TaskFolders | undefined): TaskSessions;
  /** `command` over two runners, and its descriptor. */
  readonly command: BindCommand;
  /** The tools over sessions, and their descriptors. */
  readonly sessionTools: BindSessions;
  /** The plugin `browser` where Chromium serves it, and its pictures. */
  readonly browser: {
    manifest(base: PluginManifest): PluginManifest;
    screenshot(take: BrowserSessions["screenshot"]): ToolBinding;
  };
  /** Tools over the wikis of tasks. */
  readonly wikis: WikiTools;
  /** Names, mail and proposals of agents that use these. */
  readonly mail: MailTools;
  /** Tools that are the same for all tasks. */
  readonly shared: {
    readonly descriptors: readonly ToolDescriptor[];
    readonly bindings: readonly ToolBinding[];
  };
  /** Tools of imported servers, and the servers' processes. */
  mcp(folders: (task: TaskId) => TaskFolders | undefined): {
    readonly tools: McpTools;
    readonly processes: Pick<McpServers, "freeze" | "thaw" | "osPids">;
  };
  /** Tools of a task in an exchange, to talk to its peer. */
  readonly peers: {
    readonly descriptors: readonly ToolDescriptor[];
    bind(
      task: TaskId,
      made: Pick<MadeWorkspace, "artifacts">,
      request: McpRequest,
    ): readonly ToolBinding[];
  };
  redeem(call: GrantedCall): void;
  /** Tools of tasks with a planned program, over all tools of the same task. */
  planned: Planned["bindings"];
  readonly provenance: Pick<ValueKeeper, "declare">;
  /** A process's powers over its children. */
  offspring: AgentToolsParts["offspring"];
  /** Tools over the network. */
  web(fetching: Fetching): readonly ToolBinding[];
  /** The files of a running task; undefined once it has ended. */
  looking(task: TaskId): Looking | undefined;
  onProgress(task: TaskId, progress: Progress): void;
}

/** The tool `command`, made by tools-wasm/command. */
export interface BindCommand {
  descriptor(sandbox: ToolDescriptor): ToolDescriptor;
  bind(
    parts: {
      readonly sandbox: ToolBinding;
      readonly descriptor: ToolDescriptor;
      readonly made: MadeWorkspace & Looking;
      readonly run: Commands["run"];
    },
  ): ToolBinding;
}

/** The tools over sessions, made by tools-wasm/command. */
export interface BindSessions {
  readonly descriptors: readonly ToolDescriptor[];
  bind(parts: {
    readonly made: MadeWorkspace & Looking;
    readonly sessions: TaskSessions;
  }): readonly ToolBinding[];
}

/** The tools for mail, made by agents/. */
export interface MailTools {
  readonly descriptors: readonly ToolDescriptor[];
  /** A task's mail; undefined where its agent uses no mail. */
  of(task: TaskId, request: ToolRequest): TaskMail | undefined;
}

/** The tools of all tasks. */
export interface TaskTools {
  /** All descriptors: reviewed, because they belong to this version or the operator added them. */
  readonly descriptors: readonly ToolDescriptor[];
  /** Tools that can reach the network. */
  readonly network: ReadonlySet<string>;
  /** The processes that run a task's tools, of all kinds. */
  readonly hosts: Toolhosts;
  workspace(task: TaskId, request: ToolRequest): TaskWorkspace;
}

/** The parts of a request that decide a task's tools. */
export type ToolRequest =
  & Pick<TaskRequest, "wikis" | "mcpSearchAbove" | "program" | "agents">
  & Partial<Pick<TaskRequest, "ingress" | "agent" | "request">>
  & McpRequest
  & MemoryRequest;

/** Makes the tools of a kernel. @throws Fault `conflict` when two tools share a name */
export function makeTaskTools(parts: TaskToolsParts): TaskTools {
  const { config, toolhosts, log, powers } = parts;
  const fetching = makeFetching(parts);
  const browsers = config.browser.engine === "chromium" ? makeBrowserSessions(parts) : undefined;
  const plain = makePluginHosts(parts);
  const pluginHosts = browsers?.within(plain) ?? countingPages(plain, parts.uses);
  const pictures = browsers === undefined ? [] : [parts.browser.screenshot(browsers.screenshot)];
  const web = [...parts.web(fetching), ...pictures];
  const plugins = makePluginTools({
    ...parts,
    ...{ fetching, hosts: pluginHosts },
    plugins: config.tools.plugins.map((plugin) =>
      browsers !== undefined && plugin.trusted && plugin.manifest.name === BROWSER
        ? { ...plugin, manifest: parts.browser.manifest(plugin.manifest) }
        : plugin
    ),
  });
  const open = new Map<TaskId, TaskFolders>();
  const commands = parts.commands((task) => open.get(task));
  const sessions = parts.sessions((task) => open.get(task));
  const mcp = parts.mcp((task) => open.get(task));
  const imported: TaskPrograms = { ...mcp.processes, close: mcp.tools.close };
  const all: readonly TaskPrograms[] = [toolhosts, pluginHosts, commands, sessions, imported];
  const hosts: Toolhosts = Object.freeze<Toolhosts>({
    call: toolhosts.call,
    open(task, folders) {
      open.set(task, folders);
      toolhosts.open(task, folders);
    },
    freeze: (pid) => all.forEach((each) => each.freeze(pid)),
    thaw: (pid) => all.forEach((each) => each.thaw(pid)),
    osPids: (task) => all.flatMap((each) => each.osPids(task)),
    async close(task) {
      open.delete(task);
      parts.wikis.close(task);
      await Promise.all(all.map((each) => each.close(task)));
    },
  });
  const reviewed = new Map(plugins.descriptors.map((each) => [each.name, each]));
  const sandboxed = reviewed.get(COMMAND);
  if (sandboxed !== undefined) reviewed.set(COMMAND, parts.command.descriptor(sandboxed));
  const common = [
    ...parts.files,
    ...web.map(({ descriptor }) => descriptor),
    ...reviewed.values(),
    ...parts.sessionTools.descriptors,
    ...parts.wikis.descriptors,
    ...parts.peers.descriptors,
    ...AGENT_TOOLS,
    ...PLANNED_TOOLS,
    ...parts.shared.descriptors,
    TOOL_SEARCH,
    TOOL_DESCRIBE,
    TOOLS_DECLARE,
  ];
  // Mail tools have plain names (`lookup`, `send`); a plugin with the same name keeps it.
  const taken: ReadonlySet<string> = new Set(common.map(({ name }) => name));
  const descriptors = [...common, ...parts.mail.descriptors.filter(({ name }) => !taken.has(name))];
  /** Adds programs of this machine behind the sandbox's tool `command`. */
  const withNative = (binding: ToolBinding, made: MadeWorkspace & Looking): ToolBinding => {
    const descriptor = reviewed.get(COMMAND);
    if (binding.descriptor.name !== COMMAND || descriptor === undefined) return binding;
    return parts.command.bind({ sandbox: binding, descriptor, made, run: commands.run });
  };
  const lookups = { redeem: parts.redeem, processOf: parts.processes.get };
  const describe = toolDescribeBinding(lookups);
  /** Adds `tool_describe` where a provider receives a cut description. */
  const withDescribe = (bindings: readonly ToolBinding[]): readonly ToolBinding[] =>
    needsDescribing(bindings.map(({ descriptor }) => descriptor))
      ? [...bindings, describe]
      : bindings;
  const names: ReadonlySet<string> = new Set(descriptors.map(({ name }) => name));
  /** A task's own tools cannot take the name of a tool of all tasks. */
  const importedTools = (
    task: TaskId,
    request: ToolRequest,
    made: MadeWorkspace,
  ): readonly ToolBinding[] => {
    const bindings = mcp.tools.of(task, request, made);
    const seen = new Set(names);
    for (const { descriptor: { name } } of bindings) {
      if (seen.has(name)) throw nameTaken(name);
      seen.add(name);
    }
    return [
      ...bindings,
      toolSearchBinding({ ...lookups, above: request.mcpSearchAbove }),
      ...(bindings.some(changes)
        ? [declareBinding({ ...lookups, declare: parts.provenance.declare })]
        : []),
    ];
  };
  return Object.freeze({
    descriptors,
    network: new Set(
      descriptors.flatMap(({ category, name }) => category === "network" ? [name] : []),
    ),
    hosts,
    workspace(task: TaskId, request: ToolRequest): TaskWorkspace {
      const { wikis = [] } = request, memory = parts.wikis.of(task, request);
      const mounts = [...request.mounts, ...grantMounts(request).mounts];
      const made = parts.workspace(task, mounts, hosts);
      const bound = plugins.bindings(made).map((binding) => withNative(binding, made));
      const mail = parts.mail.of(task, request);
      const letters = mail?.bindings ?? [];
      for (const { descriptor: { name } } of letters) if (taken.has(name)) throw nameTaken(name);
      const own = [...web, ...bound, ...parts.sessionTools.bind({ made, sessions }), ...letters];
      const peer = parts.peers.bind(task, made, request);
      // A planned program has no agents: its plan would not list their calls.
      const agents = programOf(request) === LAL_PROGRAM || isPlanned(request) ? [] : [
        ...agentToolBindings({ ...lookups, offspring: parts.offspring }, request),
        ...parts.shared.bindings,
      ];
      const others = withDescribe([
        ...own,
        ...peer,
        ...agents,
        ...importedTools(task, request, made),
        ...parts.planned(request, () => workspace.tools),
      ]);
      const wiki = request.memory === undefined ? [] : [request.memory.folder];
      const guard = guardWikis({ mounts, wikis: [...wikis, ...wiki] });
      const workspace = makeTaskWorkspace(made, {
        ...{ log, powers, others, memory, mail, wikis: guard },
      });
      return workspace;
    },
  });
}

function changes({ descriptor, effect }: ToolBinding): boolean {
  return isImported(descriptor) && effect !== "read" && effect !== "stage";
}

function nameTaken(name: string): Fault {
  return new Fault("conflict", `Cannot hand tool "${name}" to a task: the name is taken`);
}
