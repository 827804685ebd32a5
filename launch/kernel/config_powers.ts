/** The configuration that starts a kernel of one state. Used by kernels_powers.ts. @module */
import { Fault, toJson } from "../../contracts/base/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { digestOf } from "../../port/digest.ts";
import { displayBlock } from "../../text/mod.ts";
import { findCommands } from "../program/command_programs_powers.ts";
import {
  agentPrograms,
  clientProgram,
  provideAgentPrograms,
} from "../program/agent_programs_powers.ts";
import { grantOf } from "../../config/agent/store.ts";
import { provideBundles } from "../program/bundles_powers.ts";
import { provideBrowser, provideStore } from "../program/program_cache_powers.ts";
import { storeChoice } from "./store_choice.ts";
import type { DiskRead, DiskWrite, Environment, Progress } from "../disk/machine.ts";
import type { KernelWish } from "./kernels.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { mcpPrograms } from "../program/mcp_programs_powers.ts";
import { modelPrograms } from "../program/model_programs_powers.ts";
import { nativeAddon } from "../../models/weights/mod.ts";
import { makePrivateFolder, type Places } from "../disk/places.ts";
import { choosePlugins } from "../../tools-wasm/kit/choice.ts";
import type { PluginKit } from "../../tools-wasm/kit/kit.ts";
import { installedPlugins } from "../../tools-wasm/kit/store.ts";
import { findPrograms } from "../program/programs_powers.ts";
import { openSecretKeep } from "../../config/secret/keep.ts";
import type { SourceDigests } from "../program/source_digest_powers.ts";
import { VERSION } from "./version.ts";
import { wikiProgramFile } from "../../memory-wiki/host/process/programs_powers.ts";

/** Minutes that an idle kernel stays by default, so that a person's next command finds it warm. */
const IDLE_MINUTES = 10;
/** Shortest idle time of a kernel, milliseconds. */
const MIN_IDLE_MS = 2_000;
/** Sets the idle time, in seconds, for tests and for machines that end with their job. */
const IDLE_VARIABLE = "REMIT_IDLE_SECONDS";

function idleMsOf(environment: KernelParts["environment"], { idleMinutes }: KernelWish): number {
  const given = environment.env(IDLE_VARIABLE);
  if (given !== undefined && !/^\d{1,6}$/.test(given)) {
    throw new Fault(
      "invalidInput",
      `Cannot read ${IDLE_VARIABLE} ${JSON.stringify(given)}: it is a number of seconds`,
    );
  }
  const minutes = given === undefined ? idleMinutes ?? IDLE_MINUTES : Number(given) / 60;
  return Math.max(MIN_IDLE_MS, Math.round(minutes * 60_000));
}

/** The public file in which systemd tells the state of this login session. */
function sessionFile(
  { environment, disk }: Pick<KernelParts, "environment" | "disk">,
): string | undefined {
  const id = environment.env("XDG_SESSION_ID");
  const path = `/run/systemd/sessions/${id}`;
  return id !== undefined && /^[A-Za-z0-9]{1,32}$/.test(id) && disk.stat(path) !== undefined
    ? path
    : undefined;
}

/** The powers and places that finding or starting a kernel needs. */
export interface KernelParts {
  readonly places: Places;
  readonly environment: Environment;
  readonly disk: DiskRead & DiskWrite;
  readonly screen: Progress;
  /** Loaded only when a kernel starts. */
  plugins(): Promise<Pick<PluginKit, "builtIn" | "reserved">>;
}

/**
 * Builds missing programs, and returns the configuration and bundle of a kernel for this wish.
 *
 * @throws Fault `unavailable` when a program does not build.
 */
export async function configFor(
  wish: KernelWish,
  parts: KernelParts,
): Promise<{ readonly config: KernelConfig; readonly bundle: string }> {
  const { places, environment, disk, screen } = parts;
  const { home } = environment;
  const say = (text: string): void => screen.say(screen.paint.dim(`remit  ${text}`));
  const known: SourceDigests = new Map();
  const plugins = await parts.plugins();
  const [bundles, built] = await Promise.all([
    provideBundles({
      ...{ home, cache: places.cache, known },
      onBuild: () => say("building its programs, once for this version …"),
    }),
    plugins.builtIn(),
  ]);
  const onRefused = (text: string): void =>
    screen.say(displayBlock(text, { prefix: "", maxLines: 2 }).join(" "));
  const { toolKeys, browser } = wish;
  const driver = browser.engine === "static" ? "" : await provideBrowser({
    ...{ home, cache: places.cache },
    onBuild: () => say("building what drives Chromium, once for this version …"),
  });
  const tools = choosePlugins({
    ...{ built, onRefused, reserved: plugins.reserved },
    installed: installedPlugins(disk, places, { toolKeys, onRefused }),
  });
  const secrets = openSecretKeep(disk, places);
  const { commands: granted, missing } = findCommands(wish.commands, environment.env("PATH") ?? "");
  const { foreign } = wish;
  const agents = { home, cache: places.cache, known };
  if (foreign !== undefined) {
    await provideAgentPrograms({
      ...agents,
      onBuild: () => say("building what stands around agents of others, once for this version …"),
    });
  }
  const commands = foreign === undefined
    ? granted
    : [...granted.filter(({ name }) => name !== foreign.name), grantOf(foreign, clientProgram())];
  for (const each of missing) onRefused(`Cannot grant a program: ${each}`);
  const ring = openKeyRing(disk, places);
  const personKey = ring.provideConsent().key;
  const stepUpKey = ring.stepUpKey();
  const told = {
    policy: wish.policy,
    personKey,
    ...(stepUpKey === undefined ? {} : { stepUpKey }),
  };
  const bridge = mcpPrograms({ home, cache: places.cache, known });
  const rules = digestOf(toJson({
    ...told,
    // Their names hold digests of their sources: a running kernel with other names would start programs that were never built.
    bridge,
    tools: tools.plugins.map(({ manifest, trusted }) => ({ manifest, trusted })),
    commands,
    browser,
  }));
  const store = storeChoice(disk, places, environment);
  if (store?.work !== undefined) makePrivateFolder(disk, store.work, environment.uid);
  const config: KernelConfig = {
    ...told,
    dir: places.kernel,
    runtime: places.runtime,
    bundles: {
      ...bundles.children,
      ...modelPrograms(places.cache, bundles.digest),
      browser: driver,
      store: store === undefined ? "" : await provideStore({
        ...{ home, cache: places.cache, known },
        onBuild: () => say("building what speaks to the database, once for this version …"),
      }),
      wiki: wikiProgramFile("wiki", { home, cache: places.cache, known }),
      ...bridge,
      ...agentPrograms(agents),
    },
    weights: places.models,
    addon: nativeAddon(places.cache),
    browser,
    programs: await findPrograms(),
    denoDir: bundles.denoDir,
    tools,
    secrets: secrets.load(),
    secretsDigest: secrets.digest(),
    commands,
    // Names sources and rules: a kernel with others has another harness.
    harness: `${VERSION}-${bundles.digest.slice(0, 12)}-${rules.slice(0, 12)}`,
    brokerSockets: places.brokerSockets,
    proxySockets: places.proxySockets,
    mcpTrees: places.mcpTrees,
    controlSocket: places.controlSocket,
    stay: false,
    idleMs: idleMsOf(environment, wish),
    session: sessionFile(parts),
    pool: { workers: 2, plugins: 1 },
    ...(store === undefined ? {} : { store }),
  };
  return { config, bundle: bundles.kernel };
}
