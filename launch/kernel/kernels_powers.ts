/** Finds the kernel of a state, or starts one. Wired in cli/main.ts. @module */
import { dirname, join } from "node:path";
import { Fault, toJson } from "../../contracts/base/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { displayBlock } from "../../text/mod.ts";
import type { KernelLink, Kernels, KernelWish } from "./kernels.ts";
import type { KernelParts } from "./config_powers.ts";
import { greet, tasksAtWork, type Wire } from "./link.ts";
import { preparePlaces } from "../disk/places.ts";
import { connectSocket } from "./socket_powers.ts";
import { VERSION } from "./version.ts";

/** File in STATE/kernel: path of the socket of the kernel that was started last. */
const SOCKET_FILE = "socket";
const START_MS = 20_000;
const STOP_MS = 3_000;
const RETRY_MS = 10;
// Exit code of a kernel that finds another one in its state (kernel/main.ts).
const LOCKED = 3;
const LOCKED_MS = 100;
const MAX_TRIES = 3;
// Longer than the kernel takes to notice that the previous connection is closed.
const STOP_LOOK_MS = 120;
// How long to wait for tasks under other rules, and how often to look.
const WAIT_MS = 10 * 60_000;
const WAIT_LOOK_MS = 500;

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes the access to the kernel of one state. */
export function makeKernels(parts: KernelParts): Kernels {
  const { places, environment, disk } = parts;

  const whyEnded = (): string | undefined => {
    const why = disk.obstacle(places.kernel);
    return why === undefined ? undefined : `"${places.kernel}": ${why}`;
  };

  /** Connects to the kernel's socket, also where a session with another runtime folder started the kernel. */
  const connect = async (): Promise<Wire | undefined> => {
    const own = await connectSocket(places.controlSocket);
    if (own !== undefined) return own;
    const recorded = disk.read(join(places.kernel, SOCKET_FILE), { most: 200 });
    const path = recorded === undefined ? "" : new TextDecoder().decode(recorded).trim();
    if (path === "" || path === places.controlSocket) return undefined;
    const folder = disk.stat(dirname(path));
    if (folder?.uid !== environment.uid || (folder.mode & 0o077) !== 0) return undefined;
    return await connectSocket(path);
  };

  const find = async (): Promise<KernelLink | undefined> => {
    const wire = await connect();
    if (wire === undefined) return undefined;
    try {
      return await greet(wire, VERSION, whyEnded);
    } catch (error) {
      // The kernel was about to end.
      if (error instanceof Fault && error.code === "gone") return undefined;
      throw error;
    }
  };

  /**
   * Stops a kernel with other rules: at once where it is idle, else after its tasks have ended. Throws `conflict` when
   * another session holds the kernel, or its tasks take too long.
   */
  const stopIdle = async (link: KernelLink, wait: boolean): Promise<void> => {
    const { pid } = link;
    let tasks: readonly string[] = [];
    try {
      tasks = await tasksAtWork(link);
      await link.ask("stop", null);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "gone") throw busy(error);
    }
    // An open session counts as work: the kernel ends only after its last connection closes.
    link.close();
    const before = performance.now();
    const passed = (): number => performance.now() - before;
    while (passed() < STOP_MS) {
      await rest(STOP_LOOK_MS);
      const wire = await connect();
      if (wire === undefined) return;
      wire.close();
    }
    if (!wait || tasks.length === 0) throw busy();
    const [first = "", ...more] = tasks;
    const which = more.length === 0 ? first : `${first} and ${more.length} more`;
    parts.screen.say(
      `remit  waits until ${which} has ended: its kernel has other rules, programs or plugins, or is of another ` +
        `version. Ctrl-C gives up; --state DIR is a kernel of its own`,
    );
    while (passed() < WAIT_MS) {
      await rest(WAIT_LOOK_MS);
      const now = await find();
      now?.close();
      // Another waiting command may have replaced the kernel first.
      if (now === undefined || now.pid !== pid) return;
    }
    throw busy();
  };

  /** Sends the current secrets to a kernel that was started with others. */
  const withSecrets = async (
    link: KernelLink,
    { secrets, secretsDigest: digest }: Pick<KernelConfig, "secrets" | "secretsDigest">,
  ): Promise<KernelLink> => {
    if (link.secrets !== digest) await link.ask("secrets", toJson({ digest, secrets }));
    return link;
  };

  /** Starts a kernel, and connects to it or to a faster one: of two that start at once, one gets the lock. */
  const start = async (
    config: KernelConfig,
    bundle: string,
    mounts: readonly string[],
  ): Promise<KernelLink> => {
    const { startKernel } = await import("./start_powers.ts");
    const before = performance.now();
    const late = (): boolean => performance.now() - before > START_MS;
    for (;;) {
      const kernel = await startKernel(config, { bundle, mounts });
      // Cron, su and containers have another runtime folder; they find the kernel by this file.
      disk.write(join(places.kernel, SOCKET_FILE), config.controlSocket);
      let code: number | undefined;
      void kernel.ended.then((exitCode) => code = exitCode);
      while (code === undefined && !late()) {
        const link = await find();
        if (link !== undefined) return link;
        await rest(RETRY_MS);
      }
      if (code === LOCKED && !late()) {
        // The holder of the lock is about to listen, or about to end.
        await rest(LOCKED_MS);
        const link = await find();
        if (link !== undefined) return link;
        continue;
      }
      const log = displayBlock(kernel.log(), { prefix: "  │ ", maxLines: 20 }).join("\n");
      throw new Fault(
        "unavailable",
        code === undefined
          ? `Cannot start the kernel: it did not answer in ${START_MS / 1_000} s\n${log}`
          : `Cannot start the kernel: it ended with ${code}\n${log}`,
      );
    }
  };

  return Object.freeze({
    find,
    async provide(wish: KernelWish): Promise<KernelLink> {
      preparePlaces(disk, places, environment.uid);
      let wanted: { readonly config: KernelConfig; readonly bundle: string } | undefined;
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const running = await find();
        // A kernel of another version may not know this version's operations.
        const same = running?.harness.startsWith(`${VERSION}-`) === true;
        if (running !== undefined && !wish.exact && same) return running;
        // Loaded lazily: most commands find a running kernel.
        wanted ??= await (await import("./config_powers.ts")).configFor(wish, parts);
        const { config, bundle } = wanted;
        if (running !== undefined) {
          if (running.harness === config.harness) return await withSecrets(running, config);
          try {
            await stopIdle(running, wish.exact);
          } catch (error) {
            const left = wish.exact ? undefined : await find();
            if (left === undefined) throw error;
            return left;
          }
        }
        const link = await start(config, bundle, wish.mounts);
        if (!wish.exact || link.harness === config.harness) return await withSecrets(link, config);
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
      'state; end the session, service or task of yours that holds it ("remit ps" shows what runs, "remit stop" ' +
      "ends one that is idle), or use another --state DIR",
    { cause },
  );
}
