/**
 * All tools of a task: files, plugins, the web. The parts are handed over by main.ts, which alone
 * knows them.
 * @module
 */
import type {
  EventLog,
  KernelConfig,
  Leases,
  Mount,
  Powers,
  ProcessKeeper,
  TaskId,
  ToolBinding,
  ToolDescriptor,
} from "../contracts/mod.ts";
import type { Children } from "./children.ts";
import { type Fetching, makeFetching } from "./fetching.ts";
import type { HostFunctionsParts, Looking } from "./host_functions.ts";
import type { Engine, PluginCode } from "./plugin_code.ts";
import { makePluginHosts } from "./plugin_hosts.ts";
import { type BindPlugins, makePluginTools } from "./plugin_tools.ts";
import { type MadeWorkspace, makeTaskWorkspace, type TaskWorkspace } from "./task_workspace.ts";
import type { Toolhosts } from "./toolhosts.ts";

/** What {@link makeTaskTools} is handed. */
export interface TaskToolsParts {
  readonly config: Pick<KernelConfig, "tools" | "secrets">;
  readonly children: Pick<Children, "plugin" | "net">;
  readonly toolhosts: Toolhosts;
  readonly leases: Pick<Leases, "covering">;
  readonly log: EventLog;
  readonly processes: Pick<ProcessKeeper, "get">;
  readonly powers: Powers;
  readonly code: PluginCode;
  readonly engine?: Engine | undefined;
  readonly binding: BindPlugins;
  readonly originOf: HostFunctionsParts["originOf"];
  readonly labelOf: HostFunctionsParts["labelOf"];
  /** The gate as a task has it, which is made over these very tools. */
  readonly gateOf: HostFunctionsParts["gateOf"];
  /** Descriptors of the tools over files. */
  readonly files: readonly ToolDescriptor[];
  workspace(task: TaskId, mounts: readonly Mount[], toolhosts: Toolhosts): MadeWorkspace & Looking;
  /** Tools over the network. */
  web(fetching: Fetching): readonly ToolBinding[];
  /** The files of a task that runs; undefined when it has ended. */
  looking(task: TaskId): Looking | undefined;
  onProgress(task: TaskId, callId: string, text: string): void;
}

/** The tools of all tasks. */
export interface TaskTools {
  /** Every descriptor there is: reviewed, being part of this version or added by the operator. */
  readonly descriptors: readonly ToolDescriptor[];
  /** Tools that can reach the network. */
  readonly network: ReadonlySet<string>;
  /** The processes that run a task's tools, all kinds together. */
  readonly hosts: Toolhosts;
  workspace(task: TaskId, mounts: readonly Mount[]): TaskWorkspace;
}

/** Makes the tools of a kernel. @throws Fault `conflict` when two tools share a name */
export function makeTaskTools(parts: TaskToolsParts): TaskTools {
  const { config, toolhosts, log, powers } = parts;
  const fetching = makeFetching({ ...parts, secrets: config.secrets });
  const pluginHosts = makePluginHosts(parts);
  const web = parts.web(fetching);
  const plugins = makePluginTools({
    ...parts,
    ...{ fetching, hosts: pluginHosts, plugins: config.tools.plugins },
  });
  const hosts: Toolhosts = Object.freeze<Toolhosts>({
    ...toolhosts,
    freeze(pid) {
      toolhosts.freeze(pid);
      pluginHosts.freeze(pid);
    },
    thaw(pid) {
      toolhosts.thaw(pid);
      pluginHosts.thaw(pid);
    },
    osPids: (task) => [...toolhosts.osPids(task), ...pluginHosts.osPids(task)],
    async close(task) {
      await Promise.all([toolhosts.close(task), pluginHosts.close(task)]);
    },
  });
  const descriptors = [
    ...parts.files,
    ...web.map(({ descriptor }) => descriptor),
    ...plugins.descriptors,
  ];
  return Object.freeze({
    descriptors,
    network: new Set(
      descriptors.flatMap(({ category, name }) => category === "network" ? [name] : []),
    ),
    hosts,
    workspace(task: TaskId, mounts: readonly Mount[]): TaskWorkspace {
      const made = parts.workspace(task, mounts, hosts);
      return makeTaskWorkspace(made, { log, powers, others: [...web, ...plugins.bindings(made)] });
    },
  });
}
