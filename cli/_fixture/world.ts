/** Powers for tests: a real disk in a temporary folder, a screen that keeps its output, a fake kernel. @module */
import { join } from "node:path";
import { Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import type { WatchEvent } from "../../contracts/task/mod.ts";
import { CONTROL_VERSION } from "../../contracts/wire/mod.ts";
import { makePort } from "../../port/mod.ts";
import { makeDisk } from "../../launch/disk/disk_powers.ts";
import type { Keyboard, Powers, Screen } from "../powers.ts";
import type { Environment } from "../../launch/disk/machine.ts";
import type { KernelLink, Kernels, KernelWish } from "../../launch/kernel/kernels.ts";
import { TASK } from "./samples.ts";
import { greet, type Wire } from "../../launch/kernel/link.ts";
import { makePaint } from "../terminal/paint.ts";
import { fakeModels } from "./models.ts";
import { realMcpStore } from "./mcp_store.ts";
import type { LoginPowers } from "../../bridges/mcp/registry/login/login.ts";
import { NO_LOGIN } from "./mcp_login.ts";
import type { McpStore } from "../../bridges/mcp/registry/store/store.ts";
import type { ModelPowers } from "../model/powers.ts";
import { realPlugins } from "./plugins.ts";
import { fakeWikis } from "./wikis.ts";
import { NO_GATEWAY } from "./gateway.ts";
import { NO_SERVICE_HANDS } from "./service.ts";
import type { ServePowers } from "../mcp_serve/gateway_process.ts";
import type { WikiPowers } from "../../memory-wiki/host/powers.ts";
import type { PluginKit } from "../../tools-wasm/kit/kit.ts";
import { type Places, preparePlaces } from "../../launch/disk/places.ts";

import { watchFolder } from "../../launch/disk/watch_folder_powers.ts";
import { runCommandLine as runFamilies } from "../arguments/dispatch.ts";

/** A screen that keeps its output. */
export interface FakeScreen extends Screen {
  readonly outs: string[];
  readonly lines: string[];
}

/** Makes a screen of 80 columns without colours. */
export function fakeScreen(): FakeScreen {
  const outs: string[] = [];
  const lines: string[] = [];
  return {
    outs,
    lines,
    out: (text) => void outs.push(text),
    say: (line) => void lines.push(line),
    hint: () => undefined,
    paint: makePaint(false),
    width: 80,
  };
}

/** A keyboard that types the given lines, one for each question. */
export function fakeKeyboard(lines: readonly (string | undefined)[]): Keyboard & {
  readonly prompts: string[];
} {
  const left = [...lines];
  const prompts: string[] = [];
  return {
    prompts,
    line(prompt): Promise<string | undefined> {
      prompts.push(prompt);
      return Promise.resolve(left.shift());
    },
  };
}

/** A fake kernel's answer to each request. */
export type FakeOps = Readonly<Record<string, (body: Json, kernel: FakeKernel) => Json>>;

/** A kernel without any process, over the real port. */
export interface FakeKernel {
  readonly asked: (readonly [string, Json])[];
  tell(event: WatchEvent): void;
  end(status: string, exit: number | null): void;
}

/** Starts a fake kernel; gives the connection that a command line holds. */
export async function fakeKernel(
  ops: FakeOps,
): Promise<{ readonly link: KernelLink; readonly kernel: FakeKernel }> {
  const asked: (readonly [string, Json])[] = [];
  let toLink: (bytes: Uint8Array) => void = () => undefined;
  let ended: () => void = () => undefined;
  const port = makePort({
    write: (bytes) => toLink(bytes.slice()),
    handler: {
      ask(op, body): Json {
        if (op === "hello") {
          return {
            version: CONTROL_VERSION,
            harness: "fake",
            pid: 1,
            receiptKey: "k",
            rules: "",
            head: "0".repeat(64),
          };
        }
        asked.push([op, body]);
        const serve = ops[op];
        if (serve === undefined) throw new Fault("invalidInput", `Cannot serve "${op}"`);
        return serve(body, kernel);
      },
      tell: () => undefined,
    },
  });
  const kernel: FakeKernel = {
    asked,
    tell: (event) => port.tell("event", toJson(event)),
    end: (status, exit) => port.tell("end", { task: TASK, status, exit }),
  };
  const wire: Wire = {
    write: (bytes) => port.feed(bytes.slice()),
    close: () => {
      port.close("the command line has gone");
      ended();
    },
    onBytes(take, end): void {
      toLink = take;
      ended = end;
    },
  };
  return { link: await greet(wire, "test"), kernel };
}

/** A fresh folder with places for home, state and runtime, and powers that reach a fake kernel. */
export function fakePowers(
  parts: {
    readonly ops?: FakeOps;
    readonly keyboard?: Keyboard;
    readonly root?: boolean;
    readonly input?: string;
    readonly plugins?: PluginKit;
    readonly models?: ModelPowers;
    readonly wikis?: WikiPowers;
    readonly serve?: ServePowers;
    readonly mcpStore?: McpStore;
    readonly login?: LoginPowers;
    /** In addition to HOME, USER and XDG_RUNTIME_DIR. */
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Powers & {
  readonly screen: FakeScreen;
  readonly root: string;
  readonly kernels_: { last: FakeKernel | undefined; wishes: KernelWish[] };
} {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-cli-test-" }));
  const env: Readonly<Record<string, string>> = {
    HOME: root,
    XDG_RUNTIME_DIR: join(root, "run"),
    USER: "alice",
    ...parts.env,
  };
  Deno.mkdirSync(join(root, "work"));
  const environment: Environment = {
    cwd: join(root, "work"),
    env: (name) => env[name],
    uid: Deno.uid() ?? 0,
    root: parts.root ?? false,
    linux: true,
    command: "remit",
    home: Deno.realPathSync(new URL("../..", import.meta.url)),
    now: () => 1_700_000_000_000,
    id: (prefix) => `${prefix}000000000001`,
  };
  const seen: { last: FakeKernel | undefined; wishes: KernelWish[] } = {
    last: undefined,
    wishes: [],
  };
  const open = async (): Promise<KernelLink> => {
    const { link, kernel } = await fakeKernel(parts.ops ?? {});
    seen.last = kernel;
    return link;
  };
  const disk = makeDisk();
  const kernelsOf = (places: Places): Kernels => ({
    find: open,
    provide(wish): Promise<KernelLink> {
      preparePlaces(disk, places, environment.uid);
      seen.wishes.push(wish);
      return open();
    },
  });
  return {
    root,
    screen: fakeScreen(),
    keyboard: parts.keyboard,
    disk,
    environment,
    interrupts: { listen: () => () => undefined },
    receipts: { verify: () => Promise.resolve({ ok: true, reason: "it holds" }) },
    schemas: { misfit: () => undefined },
    logs: { verify: () => Promise.resolve({ ok: true, key: "k" }) },
    plugins: parts.plugins ?? realPlugins(environment.home),
    models: parts.models ?? fakeModels(),
    wikis: parts.wikis ?? fakeWikis(),
    serve: parts.serve ?? NO_GATEWAY,
    service: NO_SERVICE_HANDS,
    gateways: {
      post: (url) => Promise.reject(new Fault("unavailable", `Cannot reach the gateway at ${url}`)),
      pause: () => Promise.resolve(),
    },
    backup: {
      copy: () => Promise.reject(new Error("no database is copied here")),
      verify: () => Promise.reject(new Error("no log is checked here")),
    },
    mcpStore: parts.mcpStore ?? realMcpStore(),
    login: parts.login ?? NO_LOGIN,
    watch: watchFolder,
    startPeer: () => Promise.reject(new Error("no other Remit is started here")),
    serveSite: () => ({ origin: "http://127.0.0.1:1", close: () => Promise.resolve() }),
    walls: { look: () => Promise.resolve([{ wall: "deno", stands: true, says: "yes" }]) },
    kernels: kernelsOf,
    kernels_: seen,
    redteam: {
      open: noRedteam,
      own: noRedteam,
      shipped: noRedteam,
      names: noRedteam,
      driver: noRedteam,
      now: noRedteam,
    },
    swarm: NO_SWARM,
    pipe: { readable: new ReadableStream(), writable: new WritableStream() },
    readInput: () => Promise.resolve(parts.input ?? ""),
  };
}

const noSwarm = (): never => {
  throw new Error("no test of commands runs a swarm");
};
const NO_SWARM: Powers["swarm"] = {
  gitLoop: noSwarm,
  ...{ git: noSwarm, check: noSwarm, plant: noSwarm, clear: noSwarm, names: () => [] },
  ...{ read: noSwarm, kind: noSwarm, write: noSwarm, journal: noSwarm, past: () => [] },
  ...{ lock: noSwarm, now: noSwarm, rest: noSwarm, keep: noSwarm, swap: noSwarm },
};

function noRedteam(): never {
  throw new Error("no test of commands plays the red team");
}

/** Runs a command line whose families take their powers from these. */
export async function runCommandLine(argv: readonly string[], powers: Powers): Promise<number> {
  return await runFamilies(argv, (name) => Promise.resolve(powers[name]));
}
