/** Finds the kernel of a state, or starts it. DESIGN section 1. @module */
import { Fault, type KernelConfig, toJson } from "../contracts/mod.ts";
import { digestOf } from "../port/digest.ts";
import { displayBlock } from "../text/mod.ts";
import { findCommands } from "./command_programs_powers.ts";
import { provideBrowser, provideBundles } from "./bundles_powers.ts";
import type {
  Around,
  DiskRead,
  DiskWrite,
  KernelLink,
  Kernels,
  KernelWish,
  Screen,
} from "./hands.ts";
import { startKernel } from "./kernel_start_powers.ts";
import { openKeyRing } from "./key_ring.ts";
import { greet } from "./link.ts";
import { type Places, preparePlaces } from "./places.ts";
import { choosePlugins } from "./plugin_choice.ts";
import type { PluginKit } from "./plugin_kit.ts";
import { installedPlugins } from "./plugin_store.ts";
import { mcpPrograms } from "./mcp_programs_powers.ts";
import { modelPrograms, nativeAddon } from "./model_programs_powers.ts";
import { wikiProgramFile } from "./wiki_programs_powers.ts";
import { findPrograms } from "./programs_powers.ts";
import { openSecretKeep } from "./secret_keep.ts";
import { connectSocket } from "./socket_powers.ts";
import { VERSION } from "./version.ts";

const START_MS = 20_000;
const STOP_MS = 3_000;
const RETRY_MS = 10;
// How a kernel ends that finds another one in its state (kernel/main.ts).
const LOCKED = 3;
const LOCKED_MS = 100;
const MOST_TRIES = 3;
// Longer than the kernel takes to see that the look before it is over.
const STOP_LOOK_MS = 120;
const IDLE_MS = 2_000;

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes the way to the kernel of one state. */
export function makeKernels(
  parts: {
    readonly places: Places;
    readonly around: Around;
    readonly disk: DiskRead & DiskWrite;
    readonly screen: Screen;
    readonly plugins: Pick<PluginKit, "builtIn" | "reserved">;
  },
): Kernels {
  const { places, around, disk, screen } = parts;

  const find = async (): Promise<KernelLink | undefined> => {
    const wire = await connectSocket(places.controlSocket);
    if (wire === undefined) return undefined;
    try {
      return await greet(wire, VERSION);
    } catch (error) {
      // It was about to end when it was reached.
      if (error instanceof Fault && error.code === "gone") return undefined;
      throw error;
    }
  };

  const configFor = async (
    wish: KernelWish,
  ): Promise<{ config: KernelConfig; bundle: string }> => {
    const { home } = around;
    const say = (text: string): void => screen.say(screen.paint.dim(`remit  ${text}`));
    const [bundles, built] = await Promise.all([
      provideBundles({
        ...{ home, cache: places.cache },
        onBuild: () => say("building its programs, once for this version …"),
      }),
      parts.plugins.builtIn(),
    ]);
    const onRefused = (text: string): void =>
      screen.say(displayBlock(text, { prefix: "", maxLines: 2 }).join(" "));
    const { toolKeys, browser } = wish;
    const driver = browser.engine === "static" ? "" : await provideBrowser({
      ...{ home, cache: places.cache },
      onBuild: () => say("building what drives Chromium, once for this version …"),
    });
    const tools = choosePlugins({
      ...{ built, onRefused, reserved: parts.plugins.reserved },
      installed: installedPlugins(disk, places, { toolKeys, onRefused }),
    });
    const secrets = openSecretKeep(disk, places);
    const { commands, missing } = findCommands(wish.commands, around.env("PATH") ?? "");
    for (const each of missing) onRefused(`Cannot grant a program: ${each}`);
    const ring = openKeyRing(disk, places);
    const personKey = ring.provideConsent().key;
    const stepUpKey = ring.stepUpKey();
    const told = {
      policy: wish.policy,
      personKey,
      ...(stepUpKey === undefined ? {} : { stepUpKey }),
    };
    const bridge = mcpPrograms({ home, cache: places.cache });
    const rules = digestOf(toJson({
      ...told,
      // Their names hold their sources' digests: a kernel of other ones would start what nobody built.
      bridge,
      tools: tools.plugins.map(({ manifest, trusted }) => ({ manifest, trusted })),
      // Of what is sealed: a digest of values could be guessed back.
      secrets: secrets.digest(),
      commands,
      browser,
    }));
    const config: KernelConfig = {
      ...told,
      dir: places.kernel,
      runtime: places.runtime,
      bundles: {
        ...bundles.children,
        ...modelPrograms(places.cache, bundles.digest),
        browser: driver,
        wiki: wikiProgramFile("wiki", { home, cache: places.cache }),
        ...bridge,
      },
      weights: places.models,
      addon: nativeAddon(places.cache),
      browser,
      programs: await findPrograms(),
      denoDir: bundles.denoDir,
      tools,
      secrets: secrets.load(),
      commands,
      // Names sources and rules: a kernel of other ones is another harness.
      harness: `${VERSION}-${bundles.digest.slice(0, 12)}-${rules.slice(0, 12)}`,
      brokerSockets: places.brokerSockets,
      proxySockets: places.proxySockets,
      mcpTrees: places.mcpTrees,
      controlSocket: places.controlSocket,
      stay: false,
      idleMs: IDLE_MS,
      pool: { workers: 2, plugins: 1 },
    };
    return { config, bundle: bundles.kernel };
  };

  const stopIdle = async (link: KernelLink): Promise<void> => {
    try {
      await link.ask("stop", null);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "gone") throw busy(error);
    }
    // An open session is work: a kernel ends only once nobody talks to it.
    link.close();
    for (const before = performance.now(); performance.now() - before < STOP_MS;) {
      await rest(STOP_LOOK_MS);
      const wire = await connectSocket(places.controlSocket);
      if (wire === undefined) return;
      wire.close();
    }
    throw busy();
  };

  /** Starts one, and reaches it or whichever was first: of two that start at once, one gets the lock. */
  const start = async (
    config: KernelConfig,
    bundle: string,
    mounts: readonly string[],
  ): Promise<KernelLink> => {
    const before = performance.now();
    const late = (): boolean => performance.now() - before > START_MS;
    for (;;) {
      const kernel = await startKernel(config, { bundle, mounts });
      let code: number | undefined;
      void kernel.ended.then((ended) => code = ended);
      while (code === undefined && !late()) {
        const link = await find();
        if (link !== undefined) return link;
        await rest(RETRY_MS);
      }
      if (code === LOCKED && !late()) {
        // Who has the lock is about to listen, or about to end.
        await rest(LOCKED_MS);
        const link = await find();
        if (link !== undefined) return link;
        continue;
      }
      const said = displayBlock(kernel.log(), { prefix: "  │ ", maxLines: 20 }).join("\n");
      throw new Fault(
        "unavailable",
        code === undefined
          ? `Cannot start the kernel: it did not answer in ${START_MS / 1_000} s\n${said}`
          : `Cannot start the kernel: it ended with ${code}\n${said}`,
      );
    }
  };

  return Object.freeze({
    find,
    async provide(wish: KernelWish): Promise<KernelLink> {
      preparePlaces(disk, places, around.uid);
      let wanted: Awaited<ReturnType<typeof configFor>> | undefined;
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const running = await find();
        if (running !== undefined && !wish.exact) return running;
        wanted ??= await configFor(wish);
        const { config, bundle } = wanted;
        if (running !== undefined) {
          if (running.harness === config.harness) return running;
          await stopIdle(running);
        }
        const link = await start(config, bundle, wish.mounts);
        if (!wish.exact || link.harness === config.harness) return link;
        // Another command was first, with other rules.
        link.close();
      }
      throw busy();
    },
  });
}

function busy(cause?: unknown): Fault {
  return new Fault(
    "conflict",
    "Cannot use these rules: a kernel with other rules or of another version is at work in this " +
      'state; see it with "remit ps", end it with "remit stop", or use another --state DIR',
    { cause },
  );
}
