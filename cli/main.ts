/** init: the command line's process. Wires its powers, and nothing else. @module */
import {
  diffWords,
  FLAG_WORDS,
  importedTool,
  reviewRows,
  serverFlags,
  toolDigest,
  translate,
} from "../bridges/mcp/review/mod.ts";
import { digestTree, TREE_DISK } from "../bridges/mcp/tree/mod.ts";
import { KEY_POWERS, loadOrMakeReceiptKey, verifyLog, verifyReceipt } from "../broker/audit/mod.ts";
import { makePathList, NEVER } from "../broker/never.ts";
import { toJson } from "../contracts/mod.ts";
import { NAMESPACE, namespace } from "../kernel/line_parts.ts";
import { lineOfNet } from "../kernel/start_line.ts";
import { tryIp } from "../net/ip.ts";
import { provideLexical } from "../models/local/lexical/build/mod.ts";
import { parseToolYaml, provideTools, runBuild } from "../tools-wasm/build/mod.ts";
import { MODULE_BYTES } from "../tools-wasm/host/bounds.ts";
import { gateFindings } from "../tools-wasm/host/load_gate.ts";
import { readShape } from "../tools-wasm/host/module_shape.ts";
import { PROCESS_TOOL_NAMES } from "../tools-wasm/command/mod.ts";
import { WORKSPACE_TOOLS } from "../workspace/mod.ts";
import { startStoryPeer } from "./a2a/story_peer_powers.ts";
import { readAround } from "./around_powers.ts";
import { makeDisk } from "./disk_powers.ts";
import { NOT_BUILT, provideBundles } from "./bundles_powers.ts";
import { runCommandLine } from "./dispatch.ts";
import { makeKernels } from "./kernels_powers.ts";
import { provideMcpPrograms } from "./mcp_programs_powers.ts";
import { makeLoginHands } from "./mcp_login_powers.ts";
import { makeMcpStore } from "./mcp_store_powers.ts";
import { makeModelHands } from "./model_hands_powers.ts";
import { makePluginKit } from "./plugin_kit_powers.ts";
import { placesOf } from "./places.ts";
import { findPrograms } from "./programs_powers.ts";
import { makeServeHands } from "./serve_hands_powers.ts";
import { provideServeProgram } from "./serve_program_powers.ts";
import { makeBackupHands } from "./service/backup_hands_powers.ts";
import { makeServiceHands } from "./service/service_hands_powers.ts";
import { serveStorySite } from "./story_site_powers.ts";
import { makeInterrupts, makeKeyboard, makeScreen, readInput } from "./terminal_powers.ts";
import { watchFolder } from "./watch_folder_powers.ts";
import { makeWalls } from "./walls_powers.ts";
import { fetchPage, netAnswer } from "./wiki_fetch.ts";
import { makeWikiHands } from "./wiki_hands_powers.ts";
import { makeWikiParser } from "./wiki_parser_powers.ts";
import { provideWikiProgram, type WikiProgram } from "./wiki_programs_powers.ts";

const home = Deno.realPathSync(new URL("..", import.meta.url));
const screen = makeScreen();
const around = readAround(home);
const disk = makeDisk();
const plugins = makePluginKit({
  provideTools,
  runBuild,
  readToolYaml: parseToolYaml,
  look: readShape,
  judge: (module, rule) => [
    ...(module.length > MODULE_BYTES ? [`it is longer than ${MODULE_BYTES} bytes`] : []),
    ...gateFindings(readShape(module), rule),
  ],
  reserved: [
    ...WORKSPACE_TOOLS.map(({ descriptor }) => descriptor.name),
    ...["http_fetch", ...PROCESS_TOOL_NAMES],
  ],
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
    receipts: { verify: verifyReceipt },
    walls: makeWalls(),
    plugins,
    mcp: {
      ...{ translate, importedTool, serverFlags, reviewRows, diffWords, toolDigest },
      flagWords: FLAG_WORDS,
    },
    models: makeModelHands({
      ...{ home, screen, provideLexical },
      cache: () => placesOf(around, undefined).cache,
    }),
    wikis: makeWikiHands({
      ...{ screen, namespace, inside: NAMESPACE },
      provideProgram: () => wikiProgram("wiki"),
      makeParser: () => makeWikiParser({ provideProgram: () => wikiProgram("parser") }),
      isNever: (path) => never(path) !== undefined,
      // Loaded when something is fetched: no other command needs the network's code.
      fetch: (url, signal) =>
        fetchPage(url, {
          async fetchHops(request, stop) {
            const { makeNetService } = await import("../net/service.ts");
            const { resolvingNames } = await import("../net/resolver.ts");
            const { makeSystemResolver } = await import("../net/resolver_powers.ts");
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
      ready: () =>
        provideMcpPrograms({
          ...{ home, cache: placesOf(around, undefined).cache },
          onBuild: () =>
            screen.say(
              screen.paint.dim(
                "remit  building the bridges to servers and peers, once for this version …",
              ),
            ),
        }),
    }),
    login: makeLoginHands(async () => {
      const onBuild = (): void =>
        screen.say(screen.paint.dim("remit  building its programs, once for this version …"));
      const [{ children, denoDir }, programs] = await Promise.all([
        provideBundles({ home, cache: placesOf(around, undefined).cache, onBuild }),
        findPrograms(),
      ]);
      const { bwrap, setpriv, prlimit, nice } = programs;
      return lineOfNet({ programs, denoDir, bundles: { ...NOT_BUILT, ...children } }, {
        bwrap: bwrap !== undefined,
        setpriv: setpriv !== undefined,
        prlimit: prlimit !== undefined,
        nice: nice !== undefined,
        storage: true,
      });
    }),
    serve: makeServeHands({
      ...{ screen, namespace, inside: NAMESPACE },
      provideProgram: () =>
        provideServeProgram({
          ...{ home, cache: placesOf(around, undefined).cache },
          onBuild: () =>
            screen.say(screen.paint.dim("remit  building the gateway, once for this version …")),
        }),
    }),
    service: makeServiceHands(),
    // Loaded when something is backed up or restored: no other command needs the store.
    backup: makeBackupHands(async () => {
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
    startPeer: (options) => startStoryPeer(home, options),
    kernels: (places) => makeKernels({ places, around, disk, screen, plugins }),
    readInput,
  }),
);
