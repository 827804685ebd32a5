/**
 * init: the process of the command line. Wires up the powers, and does nothing else; a power is loaded when a family of
 * commands that names it runs.
 * @module
 */
import { toJson } from "../contracts/base/json.ts";
import { runCommandLine } from "./arguments/dispatch.ts";
import { readEnvironment } from "../launch/disk/environment_powers.ts";
import { makeDisk } from "../launch/disk/disk_powers.ts";
import { placesOf } from "../launch/disk/places.ts";
import type { PowerName, Powers, PowerSource, Screen } from "./powers.ts";
import type { Environment } from "../launch/disk/machine.ts";
import { makeScreen } from "./terminal/terminal_powers.ts";

const home = Deno.realPathSync(new URL("..", import.meta.url));
const screen = makeScreen();
const environment = readEnvironment(home);
const disk = makeDisk();
const cache = (): string => placesOf(environment, undefined).cache;
const building = (what: string) => (): void =>
  screen.say(screen.paint.dim(`remit  building ${what}, once for this version …`));

/** The maker of each power. */
const SOURCES: { readonly [K in PowerName]: () => Powers[K] | Promise<Powers[K]> } = {
  screen: () => screen,
  environment: () => environment,
  disk: () => disk,
  // Line editing is only loaded where a person can type.
  keyboard: async () =>
    Deno.stdin.isTerminal() && Deno.stderr.isTerminal()
      ? (await import("./session/keyboard_powers.ts")).makeKeyboard(screen)
      : undefined,
  interrupts: async () => (await import("./terminal/terminal_powers.ts")).makeInterrupts(),
  readInput: async () => (await import("./terminal/terminal_powers.ts")).readInput,
  pipe: async () => (await import("./acp/pipe_powers.ts")).makePipe(),
  watch: async () => (await import("../launch/disk/watch_folder_powers.ts")).watchFolder,
  serveSite: async () => (await import("./run/story_site_powers.ts")).serveStorySite,
  startPeer: () => async (options) =>
    await (await import("./a2a/story_peer_powers.ts")).startStoryPeer(home, options),
  receipts: () => ({
    verify: async (receipt, key) =>
      (await import("../broker/audit/mod.ts")).verifyReceipt(receipt, key),
  }),
  logs: () => ({
    verify: async (bytes, options) =>
      (await import("../broker/audit/mod.ts")).verifyExport(bytes, options),
  }),
  async schemas() {
    const { makeMisfits } = await import("../broker/mod.ts");
    return { misfit: makeMisfits() };
  },
  async walls() {
    const { makeWalls } = await import("../launch/program/walls_powers.ts");
    return makeWalls(async (bwrap) =>
      await (await import("../kernel/core/start/spawn_powers.ts")).triesFilter(bwrap)
    );
  },
  async kernels() {
    const { makeKernels } = await import("../launch/kernel/kernels_powers.ts");
    return (places) =>
      makeKernels({ places, environment, disk, screen, plugins: () => power("plugins") });
  },
  gateways: async () => (await import("./fleet/gateway_powers.ts")).makeGateways(),
  plugins: makePlugins,
  async models() {
    const { makeModelPowers } = await import("./model/model_powers.ts");
    return makeModelPowers({
      ...{ home, screen, cache },
      vectors: async () => await import("../models/embed/mod.ts"),
    });
  },
  wikis: makeWikis,
  async mcpStore() {
    const { makeMcpStore } = await import("../bridges/mcp/registry/store/store_powers.ts");
    const { digestTree, TREE_DISK } = await import("../bridges/mcp/tree/mod.ts");
    return makeMcpStore({
      digestTree: (folder) => digestTree(folder, TREE_DISK),
      ready: async () =>
        await (await import("../launch/program/mcp_programs_powers.ts")).provideMcpPrograms({
          ...{ home, cache: cache() },
          onBuild: building("the bridges to servers and peers"),
        }),
    });
  },
  async login() {
    const { makeLoginPowers } = await import("../bridges/mcp/registry/login/login_powers.ts");
    return makeLoginPowers(lineOfLogin);
  },
  async serve() {
    const { makeServePowers, provideServeProgram } = await import(
      "./mcp_serve/gateway_process_powers.ts"
    );
    const { NAMESPACE, namespace } = await import("../kernel/core/start/line_parts.ts");
    return makeServePowers({
      ...{ screen, namespace, inside: NAMESPACE },
      provideProgram: async () =>
        await provideServeProgram({ home, cache: cache(), onBuild: building("the gateway") }),
    });
  },
  service: async () => (await import("./service/service_powers.ts")).makeServicePowers(),
  swarm: makeSwarm,
  async redteam() {
    const { makeRedteamPowers } = await import("../redteam/workshop_powers.ts");
    const { runWithin } = await import("./redteam/within.ts");
    const { makeKernels } = await import("../launch/kernel/kernels_powers.ts");
    const plugins = (): Promise<Powers["plugins"]> => power("plugins");
    const kernels = (environment: Environment, screen: Screen): Powers["kernels"] => (places) =>
      makeKernels({ places, environment, disk, screen, plugins });
    const parts = { source: power, runCommandLine, kernels };
    return makeRedteamPowers(home, (argv, at) => runWithin(parts, argv, at));
  },
  async backup() {
    const { makeBackupPowers } = await import("../service/backup/disk_powers.ts");
    return makeBackupPowers(logCheck);
  },
};

const kept = new Map<PowerName, unknown>();
/** Returns a power; each is made once. */
async function power<K extends PowerName>(name: K): Promise<Powers[K]> {
  if (!kept.has(name)) kept.set(name, SOURCES[name]());
  return await kept.get(name) as Powers[K];
}

async function makePlugins(): Promise<Powers["plugins"]> {
  const { makePluginKit } = await import("../tools-wasm/kit/kit_powers.ts");
  const { RESERVED_TOOLS } = await import("../tools-wasm/kit/reserved.ts");
  const { MODULE_BYTES } = await import("../tools-wasm/host/bounds.ts");
  const { gateFindings } = await import("../tools-wasm/host/load_gate.ts");
  const { readShape } = await import("../tools-wasm/host/module_shape.ts");
  const { PROCESS_TOOL_NAMES } = await import("../tools-wasm/command/mod.ts");
  const { WORKSPACE_TOOLS } = await import("../workspace/mod.ts");
  const build = async () => await import("../tools-wasm/build/mod.ts");
  return makePluginKit({
    provideTools: async (options) => await (await build()).provideTools(options),
    runBuild: async (options) => await (await build()).runBuild(options),
    readToolYaml: async (text, name) => (await build()).parseToolYaml(text, name),
    look: readShape,
    judge: (module, rule) => [
      ...(module.length > MODULE_BYTES ? [`it is longer than ${MODULE_BYTES} bytes`] : []),
      ...gateFindings(readShape(module), rule),
    ],
    reserved: [
      ...WORKSPACE_TOOLS.map(({ descriptor }) => descriptor.name),
      ...PROCESS_TOOL_NAMES,
      ...RESERVED_TOOLS,
    ],
    ownTools: async () => {
      const { httpFetchBinding } = await import("../net/http_fetch.ts");
      const { processDescriptor, PROCESS_VERBS } = await import("../tools-wasm/command/mod.ts");
      const { MEMORY_DESCRIPTORS } = await import("../memory-wiki/tools/mod.ts");
      const { descriptor, effect } = httpFetchBinding();
      const effectOf = { read: "read", stage: "stage", mutate: "mutateLocal" } as const;
      return [
        ...WORKSPACE_TOOLS.map((tool) => ({ ...tool, group: "files" as const })),
        { descriptor, effect, group: "web" },
        ...PROCESS_VERBS.map((verb) => processDescriptor(verb, [])).map((each) => ({
          ...{ descriptor: each, effect: each.category === "read" ? "read" : "stage" } as const,
          group: "processes" as const,
        })),
        ...Object.values(MEMORY_DESCRIPTORS).map((each) => ({
          ...{ descriptor: each, effect: effectOf[each.category as "read" | "stage" | "mutate"] },
          group: "memory" as const,
        })),
      ];
    },
  }, { home, screen, cache });
}

async function makeWikis(): Promise<Powers["wikis"]> {
  const { makeWikiPowers } = await import("../memory-wiki/host/process/wiki_process_powers.ts");
  const { makeWikiParser } = await import("../memory-wiki/host/process/parser_powers.ts");
  const { provideWikiProgram } = await import("../memory-wiki/host/process/programs_powers.ts");
  const { fetchPage, netAnswer } = await import("../memory-wiki/host/ingest/fetch.ts");
  const { NAMESPACE, namespace } = await import("../kernel/core/start/line_parts.ts");
  const { tryIp } = await import("../net/address/ip.ts");
  const { makePathList, NEVER } = await import("../text/path_list.ts");
  const never = makePathList(NEVER.map((glob) => ({ glob, at: "built-in: never-list" })));
  const program = (which: "wiki" | "parser", what: string) => () =>
    provideWikiProgram(which, { home, cache: cache(), onBuild: building(what) });
  return makeWikiPowers({
    ...{ screen, namespace, inside: NAMESPACE },
    provideProgram: program("wiki", "the wiki's program"),
    makeParser: () =>
      makeWikiParser({ provideProgram: program("parser", "the reader of documents") }),
    openContents: async (path) => (await import("../store/sqlite/mod.ts")).openContentStore(path),
    isNever: (path) => never.find(path) !== undefined,
    fetch: (url, signal) =>
      fetchPage(url, {
        async fetchHops(request, stop) {
          const { makeNetService } = await import("../net/service.ts");
          const { resolvingNames } = await import("../net/address/resolver.ts");
          const { makeSystemResolver } = await import("../net/address/resolver_powers.ts");
          const { makeExchange } = await import("../net/exchange_powers.ts");
          const { clock } = await import("../net/clock_powers.ts");
          const resolver = resolvingNames(makeSystemResolver());
          const net = makeNetService({ resolver, exchange: makeExchange(), clock });
          stop.addEventListener("abort", () => net.tell("cancel", { id: request.id }));
          return netAnswer(await net.ask("fetch", toJson(request)));
        },
        isAddress: (host) => tryIp(host) !== undefined,
      }, signal),
  });
}

async function makeSwarm(): Promise<Powers["swarm"]> {
  const { makeSwarmPowers } = await import("../swarm/swarm_powers.ts");
  const { makeSwarmWalls } = await import("./swarm/walls_powers.ts");
  const { findPrograms } = await import("../launch/program/programs_powers.ts");
  const line = await import("../kernel/core/start/command_line.ts");
  const { filtered } = await import("../kernel/core/start/line_parts.ts");
  const { makeSpawnPowers } = await import("../kernel/core/start/spawn_powers.ts");
  const { probeCommandWalls } = await import("../kernel/core/start/walls.ts");
  const { Fault } = await import("../contracts/base/fault.ts");
  const spawn = makeSpawnPowers();
  const GiB = 1024 ** 3;
  return makeSwarmPowers(makeSwarmWalls({
    ...{ findPrograms, system: line.SYSTEM, env: line.COMMAND_ENV, keepFilters: spawn.keepFilters },
    dir: `${cache()}/walls`,
    filtered: (config, words) => filtered(config, "closed", words),
    // A person waits for it, so it runs at the priority of their own git.
    started: ({ nice: _, ...programs }, inner) =>
      line.started(programs, { data: 4 * GiB, file: 2 * GiB, files: 1_024 }, inner),
    lineOfCommand: line.lineOfCommand,
    async identity(config) {
      const walls = await probeCommandWalls(config, spawn);
      if (walls.kind === "walled") return walls.identity;
      throw new Fault("unavailable", `Cannot run a check on this machine: ${walls.why}`);
    },
  }));
}

const lineOfLogin: Parameters<
  typeof import("../bridges/mcp/registry/login/login_powers.ts").makeLoginPowers
>[0] = async () => {
  const onBuild = building("its programs");
  const { NOT_BUILT, provideBundles } = await import("../launch/program/bundles_powers.ts");
  const { findPrograms } = await import("../launch/program/programs_powers.ts");
  const { lineOfNet } = await import("../kernel/core/start/start_line.ts");
  const [{ children, denoDir }, programs] = await Promise.all([
    provideBundles({ home, cache: cache(), onBuild }),
    findPrograms(),
  ]);
  const { bwrap, setpriv, prlimit, nice } = programs;
  return lineOfNet({ programs, denoDir, bundles: { ...NOT_BUILT, ...children } }, {
    bwrap: bwrap !== undefined,
    filter: false,
    setpriv: setpriv !== undefined,
    prlimit: prlimit !== undefined,
    nice: nice !== undefined,
    storage: true,
  });
};

const logCheck: Parameters<typeof import("../service/backup/disk_powers.ts").makeBackupPowers>[0] =
  async () => {
    const { KEY_POWERS, loadOrMakeReceiptKey, verifyLog } = await import(
      "../broker/audit/mod.ts"
    );
    const { checkSqliteFile, openSqliteStore } = await import("../store/sqlite/mod.ts");
    return {
      flaws: checkSqliteFile,
      async verify(path, { keyFile, head }) {
        const store = openSqliteStore({ path, readOnly: true });
        const { publicKey } = await loadOrMakeReceiptKey({ powers: KEY_POWERS, path: keyFile });
        try {
          const found = await verifyLog({
            ...{ store, publicKey },
            ...(head === undefined ? {} : { head }),
          });
          const why = found.bad?.why ?? (found.ok ? "" : "it does not hold");
          return {
            ...{ ok: found.ok, why, events: found.events },
            head: found.head,
            receiptKey: publicKey,
          };
        } finally {
          await store.close();
        }
      },
    };
  };

const source: PowerSource = power;
Deno.exit(await runCommandLine(Deno.args, source));
