/**
 * Plugins as tools of a task: manifests become bindings, granted calls go to plugin hosts. docs/decision/0009.
 * Used by kernel/task/task_tools.ts.
 * @module
 */
import { mixLabel } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { TaskId } from "../../../contracts/authority/ids.ts";
import type { Json } from "../../../contracts/base/json.ts";
import type { PluginManifest, PluginTool } from "../../../contracts/tool/plugin.ts";
import type { GrantedCall, Resolved, ToolBinding } from "../../../contracts/task/power.ts";
import type { Powers, ProcessKeeper } from "../../../contracts/task/process.ts";
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";
import type { KernelConfig } from "../../../contracts/wire/wire_control.ts";
import { type HostFunctionsParts, type Looking, makeHostFunctions } from "./host_functions.ts";
import { clearanceWith, type Grants, type Under } from "./host_fetch.ts";
import type { Profiles } from "../net/profiles.ts";
import { hidden, withoutSecrets } from "../net/secret_echo.ts";
import type { PluginHosts } from "./hosts.ts";
import type { Progress } from "../../core/log/watch.ts";

/** Maximum depth of nested calls: a plugin may call a tool of another plugin. */
const MAX_DEPTH = 3;
const BROWSER = "browser", BROWSER_CLOSE = "browser_close", BROWSER_DOWNLOAD = "browser_download";

/** A granted call, from tools-wasm/binding. */
export interface PluginRun {
  readonly manifest: PluginManifest;
  readonly tool: PluginTool;
  readonly granted: GrantedCall;
  readonly grants: Grants;
}

/** The result of a plugin call. */
export interface PluginRan extends Pick<Under, "colour" | "label" | "sources"> {
  readonly value: Json;
  readonly logs: readonly string[];
}

/** Converts manifests to descriptors and bindings, made by tools-wasm/binding. */
export interface BindPlugins {
  descriptor(manifest: PluginManifest, tool: PluginTool): ToolDescriptor;
  bind(
    of: {
      readonly manifest: PluginManifest;
      readonly tool: PluginTool;
      readonly descriptor: ToolDescriptor;
    },
    parts: {
      readonly looking: Looking;
      run(run: PluginRun, signal: AbortSignal): Promise<PluginRan>;
    },
  ): ToolBinding;
}

/** The plugins, their hosts, and the parts behind host functions. */
export interface PluginToolsParts extends Omit<HostFunctionsParts, "within" | "onProgress"> {
  readonly plugins: KernelConfig["tools"]["plugins"];
  readonly hosts: PluginHosts;
  readonly processes: Pick<ProcessKeeper, "get" | "taint">;
  readonly powers: Pick<Powers, "token">;
  readonly binding: BindPlugins;
  onProgress(task: TaskId, progress: Progress): void;
  /** The browser profiles of agents; absent: there are none. */
  readonly profiles?: Profiles | undefined;
}

/** The plugins of a kernel. */
export interface PluginTools {
  readonly descriptors: readonly ToolDescriptor[];
  /** A task's bindings over its files. */
  bindings(looking: Looking): readonly ToolBinding[];
}

type Plugin = KernelConfig["tools"]["plugins"][number];

/**
 * Makes the plugins' tools.
 *
 * @throws Fault `conflict` when two plugins have a tool of the same name
 */
export function makePluginTools(parts: PluginToolsParts): PluginTools {
  const { hosts, processes, binding, powers } = parts;
  /** Depth of nested calls, by process and call id. */
  const depths = new Map<string, number>();
  const serve = makeHostFunctions({
    ...parts,
    within(under, id) {
      const key = `${under.process.pid} ${id}`;
      depths.set(key, depthOf(under.process.pid, under.callId) + 1);
      return () => void depths.delete(key);
    },
    onProgress: ({ process, callId, label }, text) =>
      parts.onProgress(process.task, { call: callId, text, label: mixLabel(label, process.label) }),
  });
  const depthOf = (pid: number, callId: string): number => depths.get(`${pid} ${callId}`) ?? 0;

  const tools = new Map<string, { plugin: Plugin; tool: PluginTool; descriptor: ToolDescriptor }>();
  for (const plugin of parts.plugins) {
    for (const tool of plugin.manifest.tools) {
      if (tools.has(tool.name)) {
        throw new Fault(
          "conflict",
          `Cannot start: two plugins bring a tool "${tool.name}"; remove one with ` +
            "`remit tool remove`",
        );
      }
      tools.set(tool.name, {
        plugin,
        tool,
        descriptor: binding.descriptor(plugin.manifest, tool),
      });
    }
  }

  /**
   * The profiles of a plugin: only the built-in browser has any, with either engine.
   * INVARIANT: no added plugin has the name of one of Remit's own
   * (test: "a plugin whose name Remit took since is left out of the kernel's, and named").
   */
  const profilesOf = ({ trusted, manifest }: Plugin): Profiles | undefined =>
    trusted && manifest.name === BROWSER ? parts.profiles : undefined;

  const run = async (
    plugin: Plugin,
    { manifest, tool, granted, grants }: PluginRun,
    signal: AbortSignal,
  ): Promise<PluginRan> => {
    const process = processes.get(granted.pid);
    if (process === undefined) throw new Fault("gone", "Cannot run a plugin: its caller has ended");
    const depth = depthOf(granted.pid, granted.callId);
    if (depth > MAX_DEPTH) {
      throw new Fault(
        "refused",
        `Cannot call "${tool.name}": more than ${MAX_DEPTH} calls within calls`,
      );
    }
    const { effect, colour = "BLUE", label = "public" } = granted.resolved;
    const judged = { colour, label };
    const browser = profilesOf(plugin), { origin } = grants;
    // A nested call carries no profile: it may have a page of its own, unknown to this file.
    const signedIn = depth === 0 ? browser : undefined;
    const url = tool.fetches === undefined ? undefined : granted.args[tool.fetches];
    const opensPage = tool.name !== BROWSER_DOWNLOAD;
    const profile = typeof url === "string"
      ? await signedIn?.begin(process, url, { opensPage })
      : undefined;
    const why = origin === undefined ? undefined : signedIn?.seen(process, origin);
    const pageChanged = (value: Json): void => {
      if (depth > 0) browser?.turned(process, { asked: "", shown: "" });
      else if (opensPage && origin !== undefined) {
        browser?.turned(process, { asked: origin, ...openPageIn(value) });
      }
    };
    if (depth > 0) pageChanged(null);
    const under: Under = {
      ...{ plugin: manifest.name, callId: granted.callId, process, grants, effect, signal },
      ...{ ...judged, judged, sent: judged, profile },
      sources: [],
      served: 0,
    };
    const tainted = (): Pick<Under, "colour" | "label" | "sources"> => {
      const { colour, label, sources } = under;
      return { colour, label, sources };
    };
    try {
      const { value, logs } = await hosts.call({
        ...{ task: granted.task, pid: granted.pid, manifest, tool, depth, signal },
        id: powers.token(),
        file: plugin.file,
        trusted: plugin.trusted,
        args: granted.args,
        bytes: granted.resultBytes * 2,
        serve: (fn, args) => serve(under, fn, args),
      });
      pageChanged(value);
      if (tool.name === BROWSER_CLOSE) await signedIn?.closed(process);
      const notes = why?.why === undefined
        ? []
        : [`browser profile "${why.name}" does not go along: it is ${why.why}`];
      // The page shown to the agent may decode a value that was encoded in the page's source.
      const cookies = profile?.hidden() ?? [];
      const shown = logs.map((line) => hidden(line, cookies));
      return { value: withoutSecrets(value, cookies), logs: [...notes, ...shown], ...tainted() };
    } catch (error) {
      pageChanged(null);
      // A plugin's failure message may quote text that it has read.
      if (!(error instanceof Fault) || error.code === "needsApproval") throw error;
      const { colour, label } = tainted();
      throw new Fault(error.code, hidden(error.message, profile?.hidden() ?? []), {
        detail: { ...error.detail, colour, label },
        cause: error,
      });
    }
  };

  /** Adds a call's profile to the question to the person; the approval covers this profile only. */
  const withProfile = (plugin: Plugin, bound: ToolBinding): ToolBinding => {
    const signedIn = profilesOf(plugin);
    if (signedIn === undefined) return bound;
    return Object.freeze<ToolBinding>({
      ...bound,
      resolve(args, process): Resolved {
        const resolved = bound.resolve(args, process), { destination = "", summary } = resolved;
        const seen = signedIn.seen(process, destination);
        if (seen === undefined || seen.why !== undefined) return resolved;
        return {
          ...resolved,
          summary: `${summary}, signed in with your browser profile "${seen.name}"`,
          clearance: clearanceWith(resolved.clearance ?? parts.clearanceOf(destination), seen),
          digests: { ...resolved.digests, [`profile:${seen.name}`]: seen.grant },
        };
      },
    });
  };

  return Object.freeze({
    descriptors: [...tools.values()].map(({ descriptor }) => descriptor),
    bindings: (looking: Looking) =>
      [...tools.values()].map(({ plugin, tool, descriptor }) =>
        withProfile(
          plugin,
          binding.bind({ manifest: plugin.manifest, tool, descriptor }, {
            looking,
            run: (run_, signal) => run(plugin, run_, signal),
          }),
        )
      ),
  });
}

/** The origin of the page that an answer of the browser shows. */
function openPageIn(value: Json): { readonly shown?: string } {
  const url = typeof value === "string" ? /^page (\S+) \(status /.exec(value)?.[1] : undefined;
  return url === undefined ? {} : { shown: URL.parse(url)?.origin ?? "" };
}
