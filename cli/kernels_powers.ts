/** Finds the kernel of a state, or starts it. DESIGN section 1. @module */
import { Fault, type KernelConfig, toJson } from "../contracts/mod.ts";
import { digestOf } from "../port/digest.ts";
import { displayBlock } from "../text/mod.ts";
import { provideBundles } from "./bundles_powers.ts";
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
import { findPrograms } from "./programs_powers.ts";
import { connectSocket } from "./socket_powers.ts";
import { VERSION } from "./version.ts";

const START_MS = 20_000;
const STOP_MS = 3_000;
const RETRY_MS = 10;
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
  },
): Kernels {
  const { places, around, disk, screen } = parts;

  const find = async (): Promise<KernelLink | undefined> => {
    const wire = await connectSocket(places.controlSocket);
    return wire === undefined ? undefined : await greet(wire, VERSION);
  };

  const configFor = async (
    wish: KernelWish,
  ): Promise<{ config: KernelConfig; bundle: string }> => {
    const bundles = await provideBundles({
      home: around.home,
      cache: places.cache,
      onBuild: () =>
        screen.say(screen.paint.dim("remit  building its programs, once for this version …")),
    });
    const ring = openKeyRing(disk, places);
    const personKey = ring.provideConsent().key;
    const stepUpKey = ring.stepUpKey();
    const told = {
      policy: wish.policy,
      personKey,
      ...(stepUpKey === undefined ? {} : { stepUpKey }),
    };
    const rules = digestOf(toJson(told));
    const config: KernelConfig = {
      ...told,
      dir: places.kernel,
      runtime: places.runtime,
      bundles: { worker: bundles.worker, toolhost: bundles.toolhost, model: bundles.model },
      programs: await findPrograms(),
      denoDir: bundles.denoDir,
      // Names sources and rules: a kernel of other ones is another harness.
      harness: `${VERSION}-${bundles.digest.slice(0, 12)}-${rules.slice(0, 12)}`,
      brokerSockets: places.brokerSockets,
      controlSocket: places.controlSocket,
      stay: false,
      idleMs: IDLE_MS,
      pool: { workers: 2, toolhosts: 1 },
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

  const start = async (
    config: KernelConfig,
    bundle: string,
    mounts: readonly string[],
  ): Promise<KernelLink> => {
    const kernel = await startKernel(config, { bundle, mounts });
    let code: number | undefined;
    void kernel.ended.then((ended) => code = ended);
    const before = performance.now();
    while (performance.now() - before < START_MS) {
      const link = await find();
      if (link !== undefined) return link;
      // Another start may have won the lock and be about to listen: look a little longer.
      if (code !== undefined && performance.now() - before > STOP_MS) break;
      if (code !== undefined && code !== 0 && kernel.log() !== "") break;
      await rest(RETRY_MS);
    }
    const said = displayBlock(kernel.log(), { prefix: "  │ ", maxLines: 20 }).join("\n");
    throw new Fault(
      "unavailable",
      code === undefined
        ? `Cannot start the kernel: it did not answer in ${START_MS / 1_000} s\n${said}`
        : `Cannot start the kernel: it ended with ${code}\n${said}`,
    );
  };

  return Object.freeze({
    find,
    async provide(wish: KernelWish): Promise<KernelLink> {
      preparePlaces(disk, places, around.uid);
      const running = await find();
      if (running !== undefined && !wish.exact) return running;
      const { config, bundle } = await configFor(wish);
      if (running !== undefined) {
        if (running.harness === config.harness) return running;
        await stopIdle(running);
      }
      return await start(config, bundle, wish.mounts);
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
