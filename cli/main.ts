/** init: the command line's process. Wires its powers, and nothing else. @module */
import { digestTree, TREE_DISK } from "../bridges/mcp/tree/mod.ts";
import { toJson } from "../contracts/mod.ts";
import { NAMESPACE, namespace } from "../kernel/start/line_parts.ts";
import { tryIp } from "../net/address/ip.ts";
import { MODULE_BYTES } from "../tools-wasm/host/bounds.ts";
import { gateFindings } from "../tools-wasm/host/load_gate.ts";
import { readShape } from "../tools-wasm/host/module_shape.ts";
import { PROCESS_TOOL_NAMES } from "../tools-wasm/command/mod.ts";
import { makePathList, NEVER } from "../text/path_list.ts";
import { WORKSPACE_TOOLS } from "../workspace/mod.ts";
import { readAround } from "./disk/around_powers.ts";
import { makeDisk } from "./disk/disk_powers.ts";
import { runCommandLine } from "./arguments/dispatch.ts";
import { makeKernels } from "./kernel/kernels_powers.ts";
import { makeKeyboard } from "./session/keyboard_powers.ts";
import { makeLoginPowers } from "./mcp/registry/login/login_powers.ts";
import { makeMcpStore } from "./mcp/registry/store/store_powers.ts";
import { makeModelHands } from "./model/hands_powers.ts";
import { makePluginKit } from "./plugin/kit_powers.ts";
import { RESERVED_TOOLS } from "./plugin/reserved.ts";
import { placesOf } from "./disk/places.ts";
import { makeServeHands } from "./mcp_serve/hands_powers.ts";
import { makeBackupHands } from "../service/backup/disk_powers.ts";
import { makeServiceHands } from "./service/hands_powers.ts";
import { serveStorySite } from "./run/story_site_powers.ts";
import { makeInterrupts, makeScreen, readInput } from "./terminal/terminal_powers.ts";
import { watchFolder } from "./disk/watch_folder_powers.ts";
import { makeWalls } from "./program/walls_powers.ts";
import { fetchPage, netAnswer } from "./wiki/ingest/fetch.ts";
import { makeWikiHands } from "./wiki/process/hands_powers.ts";
import { makeWikiParser } from "./wiki/process/parser_powers.ts";
import { provideWikiProgram, type WikiProgram } from "./wiki/process/programs_powers.ts";

const home = Deno.realPathSync(new URL("..", import.meta.url));
const screen = makeScreen();
const around = readAround(home);
const disk = makeDisk();
// What builds, serves or verifies is loaded when it is asked for: few commands need it.
const plugins = makePluginKit({
  provideTools: async (options) =>
    await (await import("../tools-wasm/build/mod.ts")).provideTools(options),
  runBuild: async (options) => await (await import("../tools-wasm/build/mod.ts")).runBuild(options),
  readToolYaml: async (text, name) =>
    (await import("../tools-wasm/build/mod.ts")).parseToolYaml(text, name),
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
}, { home, screen, cache: () => placesOf(around, undefined).cache });

const BUILT: Readonly<Record<WikiProgram, string>> = {
  wiki: "wiki's program",
  parser: "reader of documents",
};
const wikiProgram = (which: WikiProgram): ReturnType<typeof provideWikiProgram> =>
  provideWikiProgram(which, {
    ...{ home, cache: placesOf(around, undefined).cache },
    onBuild: () =>
      screen.say(screen.paint.dim(`remit  building the ${BUILT[which]}, once for this version …`)),
  });
const never = makePathList(NEVER.map((glob) => ({ glob, at: "built-in: never-list" })));

Deno.exit(
  await runCommandLine(Deno.args, {
    screen,
    keyboard: makeKeyboard(screen),
    disk,
    around,
    interrupts: makeInterrupts(),
    receipts: {
      verify: async (receipt, key) =>
        (await import("../broker/audit/mod.ts")).verifyReceipt(receipt, key),
    },
    logs: {
      verify: async (bytes, options) =>
        (await import("../broker/audit/mod.ts")).verifyExport(bytes, options),
    },
    walls: makeWalls(async (bwrap) =>
      await (await import("../kernel/start/spawn_powers.ts")).triesFilter(bwrap)
    ),
    plugins,
    models: makeModelHands({
      ...{ home, screen },
      vectors: async () => await import("../models/embed/mod.ts"),
      cache: () => placesOf(around, undefined).cache,
    }),
    wikis: makeWikiHands({
      ...{ screen, namespace, inside: NAMESPACE },
      provideProgram: () => wikiProgram("wiki"),
      makeParser: () => makeWikiParser({ provideProgram: () => wikiProgram("parser") }),
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
    }),
    mcpStore: makeMcpStore({
      digestTree: (folder) => digestTree(folder, TREE_DISK),
      ready: async () =>
        await (await import("./mcp/programs_powers.ts")).provideMcpPrograms({
          ...{ home, cache: placesOf(around, undefined).cache },
          onBuild: () =>
            screen.say(
              screen.paint.dim(
                "remit  building the bridges to servers and peers, once for this version …",
              ),
            ),
        }),
    }),
    login: makeLoginPowers(async () => {
      const onBuild = (): void =>
        screen.say(screen.paint.dim("remit  building its programs, once for this version …"));
      const { NOT_BUILT, provideBundles } = await import("./program/bundles_powers.ts");
      const { findPrograms } = await import("./program/programs_powers.ts");
      const { lineOfNet } = await import("../kernel/start/start_line.ts");
      const [{ children, denoDir }, programs] = await Promise.all([
        provideBundles({ home, cache: placesOf(around, undefined).cache, onBuild }),
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
    }),
    serve: makeServeHands({
      ...{ screen, namespace, inside: NAMESPACE },
      provideProgram: async () =>
        await (await import("./mcp_serve/hands_powers.ts")).provideServeProgram({
          ...{ home, cache: placesOf(around, undefined).cache },
          onBuild: () =>
            screen.say(screen.paint.dim("remit  building the gateway, once for this version …")),
        }),
    }),
    service: makeServiceHands(),
    backup: makeBackupHands(async () => {
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
    }),
    watch: watchFolder,
    serveSite: serveStorySite,
    startPeer: async (options) =>
      await (await import("./a2a/story_peer_powers.ts")).startStoryPeer(home, options),
    kernels: (places) => makeKernels({ places, around, disk, screen, plugins }),
    readInput,
  }),
);
