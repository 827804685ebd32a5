/** A kernel that a test controls: started as the command line does, killed, and started again over the same state. */
import process from "node:process";
import {
  type Answer,
  MountName,
  Question,
  SessionId,
  TaskId,
} from "../../contracts/authority/mod.ts";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import { type AgentSpec, NO_POLICY } from "../../contracts/policy/mod.ts";
import type { FailPoint, Limits, TaskRequest } from "../../contracts/task/mod.ts";
import type { Mount } from "../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { type Bundles, NOT_BUILT, provideBundles } from "../../launch/program/bundles_powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { greet } from "../../launch/kernel/link.ts";
import { makeKeyFile, openKey, type Signer } from "../../config/key/person_key_powers.ts";
import { findPrograms } from "../../launch/program/programs_powers.ts";
import { signAnswer } from "../../cli/question/sign_answer.ts";
import { connectSocket } from "../../launch/kernel/socket_powers.ts";
import { type Following, followTask } from "./following.ts";
import { type Death, type KernelProcess, spawnKernel } from "./kernel_process.ts";
import { endProcesses } from "./processes.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const START_MS = 600_000;

/** A test's options of a task; the defaults are those of an honest operator at the terminal. */
export interface Draft {
  /** A scenario of the scripted model, YAML. */
  readonly scenario: string;
  readonly request?: string;
  readonly limits?: Partial<Limits>;
  readonly onQuestion?: TaskRequest["onQuestion"];
  readonly interactive?: boolean;
  readonly intake?: true;
  readonly program?: string;
  readonly agent?: AgentSpec;
  readonly mounts?: readonly Mount[];
  readonly mcp?: TaskRequest["mcp"];
  readonly ingress?: TaskRequest["ingress"];
}

/** How one kernel differs from a plain one. */
export interface StartOptions {
  /** The kernel kills itself the `after`-th time (default: the first) that it reaches the point. */
  readonly failpoint?: { readonly at: FailPoint; readonly after?: number };
}

/** How a home differs from a plain one. */
export interface HomeOptions {
  /** A kernel program in place of the real one's bundle. */
  readonly bundle?: string;
  /** Programs of rarely needed children. */
  readonly bundles?: Partial<KernelConfig["bundles"]>;
  /** Additional unix sockets that the kernel may connect to: absolute, or names in the home's folder `run`. */
  readonly sockets?: readonly string[];
  /** Rules; absent: none. */
  readonly policy?: KernelConfig["policy"];
  /** The person's key; absent: a fresh one. */
  readonly person?: Signer;
  /** A log in a database that other homes share. */
  readonly store?: KernelConfig["store"];
  /** A program and words before the kernel's own start line: a limit. */
  readonly wrap?: (state: string) => readonly string[];
}

/** A kernel that is starting. */
export interface Launched extends KernelProcess {
  /** Rejects when the kernel ends before it serves. */
  readonly live: Promise<LiveKernel>;
}

/** A serving kernel, and a connection to it. */
export interface LiveKernel extends KernelProcess {
  /** Head of the log when the connection was made. */
  readonly head: string;
  /** Raw Ed25519 public key of its receipts, base64url. */
  readonly receiptKey: string;
  ask(op: string, body: unknown): Promise<Json>;
  run(draft: Draft): Promise<TaskId>;
  /** Follows a task on a connection of its own, and answers its questions. */
  follow(task: TaskId, options: FollowOptions): Promise<Following>;
  answer(question: Question, decision: Answer["decision"]): Promise<void>;
  questions(task: TaskId): Promise<readonly Question[]>;
  /** Asks the kernel to end, and waits until it has. */
  stop(): Promise<Death>;
  /** The connection itself. */
  readonly link: KernelLink;
}

/** The answer to a question; `leave` lets it wait. */
export type Choice = Answer["decision"] | "leave";

/** How a task is followed. */
export interface FollowOptions {
  readonly answer: Choice | ((question: Question) => Choice);
  readonly from?: number;
}

/** A state, a folder to work on, a person's keys. */
export interface KernelHome {
  readonly dir: string;
  readonly state: string;
  /** The folder that tasks mount, as `desk`. */
  readonly desk: string;
  readonly config: KernelConfig;
  readonly person: Signer;
  readonly stepUp: Signer;
  start(options?: StartOptions): Promise<LiveKernel>;
  /** Starts a kernel and does not wait until it serves. */
  launch(options?: StartOptions): Launched;
  mount(changes?: Partial<Mount>): Mount;
}

const shared: { bundles?: Promise<Bundles>; programs?: Promise<KernelConfig["programs"]> } = {};

/** The bundles of these sources: one build for all homes of a test run. */
export function testBundles(): Promise<Bundles> {
  return shared.bundles ??= provideBundles({ home: ROOT, cache: cache(), onBuild: () => {} });
}

/** Where test runs keep what they build. */
export function cache(): string {
  const home = process.env["XDG_CACHE_HOME"] ?? `${process.env["HOME"]}/.cache`;
  return `${home}/remit`;
}

/** Runs `f` in a fresh home; afterwards kills what still runs there, and removes the home. */
export async function inHome(
  f: (home: KernelHome) => Promise<void>,
  options: HomeOptions = {},
): Promise<void> {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-fault-" }));
  try {
    await f(await makeHome(dir, options));
  } finally {
    await endProcesses(dir);
    await Deno.remove(dir, { recursive: true });
  }
}

async function makeHome(dir: string, options: HomeOptions): Promise<KernelHome> {
  const bundles = await testBundles();
  const person = options.person ?? openKey(makeKeyFile());
  const stepUp = openKey(makeKeyFile());
  const state = `${dir}/state`;
  const kernelDir = `${state}/kernel`;
  for (const folder of [`${dir}/run/net`, `${dir}/trees`, `${dir}/desk`, kernelDir]) {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  }
  const config: KernelConfig = {
    dir: kernelDir,
    runtime: `${dir}/run`,
    weights: "/nowhere",
    addon: "",
    bundles: { ...bundles.children, ...NOT_BUILT, ...options.bundles },
    programs: await (shared.programs ??= findPrograms()),
    denoDir: bundles.denoDir,
    tools: { plugins: [] },
    secrets: [],
    secretsDigest: "",
    commands: [],
    browser: { engine: "static", program: "/usr/bin/chromium" },
    personKey: person.key,
    stepUpKey: stepUp.key,
    policy: options.policy ?? NO_POLICY,
    harness: "fault",
    brokerSockets: Array.from({ length: 8 }, (_, n) => `${dir}/run/b${n}`),
    proxySockets: Array.from({ length: 4 }, (_, n) => `${dir}/run/net/p${n}`),
    mcpTrees: `${dir}/trees`,
    controlSocket: `${dir}/run/c`,
    stay: true,
    idleMs: 60_000,
    pool: { workers: 1, plugins: 1 },
    store: options.store,
  };
  const mount = (changes: Partial<Mount> = {}): Mount => ({
    name: MountName.parse("desk"),
    dir: `${dir}/desk`,
    mode: "stage",
    colour: "YELLOW",
    label: "internal",
    marks: [],
    ...changes,
  });
  const launch = ({ failpoint }: StartOptions = {}): Launched => {
    const process = spawnKernel(
      {
        ...config,
        ...(failpoint === undefined ? {} : { failpoint: { after: 1, ...failpoint } }),
      },
      {
        ...{ wrap: options.wrap?.(state) ?? [], sockets: options.sockets ?? [] },
        ...{ bundle: options.bundle ?? bundles.kernel, mounts: [`${dir}/desk`] },
      },
    );
    const live = linkTo(config, process).then((link) => liveKernel(home, process, link));
    // A test that kills the kernel during its start does not wait for it.
    live.catch(() => undefined);
    return { ...process, live };
  };
  const home: KernelHome = {
    ...{ dir, state, desk: `${dir}/desk`, config, person, stepUp, mount, launch },
    start: (how) => launch(how).live,
  };
  return home;
}

async function connectTo(config: KernelConfig): Promise<KernelLink | undefined> {
  const wire = await connectSocket(config.controlSocket);
  return wire === undefined ? undefined : await greet(wire, config.harness);
}

async function linkTo(config: KernelConfig, process: KernelProcess): Promise<KernelLink> {
  let death: Death | undefined;
  void process.died.then((ended) => death = ended);
  const before = performance.now();
  for (;;) {
    const link = await connectTo(config).catch(() => undefined);
    if (link !== undefined) return link;
    if (death !== undefined || performance.now() - before > START_MS) {
      const how = death === undefined ? "it does not answer" : JSON.stringify(death);
      throw new Error(`Cannot start the kernel: ${how}\n${process.said()}`);
    }
    // TIMER: a socket that does not exist yet gives no event.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function liveKernel(home: KernelHome, process: KernelProcess, link: KernelLink): LiveKernel {
  const kernel: LiveKernel = {
    ...process,
    ...{ link, head: link.head, receiptKey: link.receiptKey },
    ask: (op, body) => link.ask(op, toJson(body)),
    async run(draft): Promise<TaskId> {
      const answer = await link.ask("run", toJson(requestOf(home, draft)));
      return TaskId.parse((answer as { task?: unknown } | null)?.task);
    },
    async follow(task, options): Promise<Following> {
      const own = await connectTo(home.config);
      if (own === undefined) throw new Error("Cannot follow: the kernel has ended");
      const { answer } = options;
      return await followTask(own, task, {
        from: options.from ?? 0,
        onQuestion: answer === "leave" ? undefined : async (id) => {
          const open = (await kernel.questions(task)).find((question) => question.id === id);
          const choice = typeof answer === "string" || open === undefined ? answer : answer(open);
          if (open === undefined || choice === "leave" || typeof choice !== "string") {
            return false;
          }
          await kernel.answer(open, choice);
          return true;
        },
      });
    },
    async questions(task): Promise<readonly Question[]> {
      return Question.array().parse(await link.ask("questions", { task }));
    },
    async answer(question, decision): Promise<void> {
      const signer = question.kind === "stepUp" ? home.stepUp : home.person;
      const verdict = { decision, for: "once", by: "carol", channel: "terminal" } as const;
      await link.ask("answer", toJson(signAnswer(question, verdict, { signer, at: Date.now() })));
    },
    async stop(): Promise<Death> {
      Deno.kill(process.pid, "SIGTERM");
      return await process.died;
    },
  };
  return kernel;
}

function requestOf(home: KernelHome, draft: Draft): TaskRequest {
  return {
    request: draft.request ?? "do as the scenario says",
    session: SessionId.parse("s0fault0fault"),
    ingress: draft.ingress ??
      { channel: "terminal", principal: "carol", colour: "BLUE", label: "internal" },
    profile: "operator",
    mounts: [...draft.mounts ?? [home.mount()]],
    model: {
      ref: "scripted:test.yaml",
      config: JSON.stringify({ file: "test.yaml", text: draft.scenario }),
    },
    limits: draft.limits ?? {},
    onQuestion: draft.onQuestion ?? "ask",
    phase: "work",
    interactive: draft.interactive ?? false,
    ...(draft.intake === undefined ? {} : { intake: true }),
    ...(draft.program === undefined ? {} : { program: draft.program }),
    ...(draft.agent === undefined ? {} : { agent: draft.agent }),
    ...(draft.mcp === undefined ? {} : { mcp: draft.mcp }),
  };
}
