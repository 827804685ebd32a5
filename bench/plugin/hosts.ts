/** Plugin hosts and the gate over them, without a kernel process around. For benches. @module */
import { CallId, Pid, TaskId } from "../../contracts/authority/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { makeMisfits } from "../../broker/mod.ts";
import { NOT_BUILT, provideBundles } from "../../launch/program/bundles_powers.ts";
import { findPrograms } from "../../launch/program/programs_powers.ts";
import { realPowers } from "../../kernel/_fixture/small_children.ts";
import { makeChildren } from "../../kernel/core/child/children.ts";
import type { Looking } from "../../kernel/power/plugin/host_functions.ts";
import {
  makeEngine,
  makePluginCode,
  makePluginHosts,
  type PluginHosts,
} from "../../kernel/power/plugin/hosts.ts";
import { makePluginTools } from "../../kernel/power/plugin/plugin_tools.ts";
import { makeSpawnPowers } from "../../kernel/core/start/spawn_powers.ts";
import { bindPlugin, descriptorOf } from "../../tools-wasm/binding/mod.ts";
import { type BuiltTools, provideTools } from "../../tools-wasm/build/mod.ts";
import { makeBenchGate } from "../_gate.ts";
import { cacheFolder } from "../_kernel.ts";

const HOME = new URL("../..", import.meta.url).pathname;
const NO_FILES: Looking = {
  readScope: () => ({ resource: "mount", right: "read", path: "desk" }),
  look: () => Promise.reject(new Error("not in this bench")),
};

/** Plugins under measurement. */
export interface Rig extends AsyncDisposable {
  readonly built: BuiltTools;
  readonly hosts: PluginHosts;
  readonly osPids: () => readonly number[];
  /** One call through the gate; throws unless it is `ok`. */
  call(tool: string, args: object): Promise<string>;
  /** One call through the gate, whatever comes of it. */
  outcome(tool: string, args: object): Promise<string>;
}

/** Builds what is missing, and starts nothing before the first call. */
export async function makeRig(): Promise<Rig> {
  const powers = realPowers();
  const cache = cacheFolder();
  const [bundles, built, programs] = await Promise.all([
    provideBundles({ home: HOME, cache, onBuild: () => undefined }),
    provideTools({ home: HOME, cache: `${cache}/tools`, onBuild: () => undefined }),
    findPrograms(),
  ]);
  const code = makePluginCode((path) => Deno.readFile(path));
  const engine = makeEngine(code, built.engine);
  const dir = await Deno.makeTempDir({ prefix: "remit-bench-" });
  await Deno.mkdir(`${dir}/kernel`);
  const children = await makeChildren({
    config: {
      programs,
      bundles: { ...bundles.children, ...NOT_BUILT },
      ...{ dir: `${dir}/kernel`, runtime: `${dir}/run`, mcpTrees: "" },
      denoDir: bundles.denoDir,
      brokerSockets: [`${dir}/b0`],
      pool: { workers: 0, plugins: 1 },
      browser: { engine: "static", program: "/usr/bin/chromium" },
    },
    powers,
    spawn: makeSpawnPowers(),
    preparePlugin: engine?.load,
  });
  const hosts = makePluginHosts({ children, powers, code, engine });
  const misfit = makeMisfits();
  const plugins: KernelConfig["tools"]["plugins"] = built.plugins.map((each) => ({
    ...each,
    trusted: true,
  }));
  const { gate, process } = await makeBenchGate({
    powers,
    tools: ({ process, redeem }) =>
      makePluginTools({
        ...{ plugins, hosts, powers },
        processes: { get: () => process, taint: () => undefined },
        leases: { covering: () => undefined },
        fetching: {
          fetch: () => Promise.reject(new Error("not in this bench")),
          forCall: () => Promise.reject(new Error("not in this bench")),
          handle: () => "",
        },
        looking: () => NO_FILES,
        gateOf: () => undefined,
        modelOf: () => undefined,
        originOf: (url) => new URL(url).origin,
        labelOf: () => "public",
        clearanceOf: () => "public",
        onProgress: () => undefined,
        binding: {
          descriptor: descriptorOf,
          bind: ({ manifest, tool, descriptor }, { looking: { readScope }, run }) =>
            bindPlugin(
              manifest,
              tool,
              { readScope, originOf: (url) => url, redeem, misfit, run },
              descriptor,
            ),
        },
      }).bindings(NO_FILES),
  });
  // As in a task: tools are advertised once a turn, not once a call.
  const { id } = gate.advertise(process.pid);
  let n = 0;
  const propose = async (
    tool: string,
    args: object,
  ): Promise<{ outcome: string; text: string }> => {
    const call = { id: CallId.parse(`c${++n}`), name: tool, arguments: JSON.stringify(args) };
    const { outcome, content, error } = await gate.call(
      Pid.parse(process.pid),
      call,
      id,
      new AbortController().signal,
    );
    return { outcome, text: error ?? content };
  };
  const task = TaskId.parse(process.task);
  return {
    built,
    hosts,
    osPids: () => hosts.osPids(task),
    async call(tool, args): Promise<string> {
      const { outcome, text } = await propose(tool, args);
      if (outcome !== "ok") throw new Error(`Cannot bench ${tool}: ${outcome}: ${text}`);
      return text;
    },
    outcome: async (tool, args) => (await propose(tool, args)).outcome,
    async [Symbol.asyncDispose](): Promise<void> {
      await hosts.close(task);
      await children.close();
      await Deno.remove(dir, { recursive: true });
    },
  };
}
