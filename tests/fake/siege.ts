/** A real kernel with real children, without a command line in between, for tests of attacks. */
import process from "node:process";
import {
  type Answer,
  MountName,
  Question,
  SessionId,
  TaskId,
} from "../../contracts/authority/mod.ts";
import { Fault, toJson } from "../../contracts/base/mod.ts";
import { NO_POLICY } from "../../contracts/policy/mod.ts";
import type { Limits, TaskRequest } from "../../contracts/task/mod.ts";
import type { Mount } from "../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { NOT_BUILT } from "../../launch/program/bundles_powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { startKernel } from "../../launch/kernel/start_powers.ts";
import { greet } from "../../launch/kernel/link.ts";
import { makeKeyFile, openKey, type Signer } from "../../config/key/person_key_powers.ts";
import { findPrograms } from "../../launch/program/programs_powers.ts";
import { signAnswer } from "../../cli/question/sign_answer.ts";
import { connectSocket } from "../../launch/kernel/socket_powers.ts";
import { testBundles } from "./kernel.ts";
import { kill9 } from "./processes.ts";
import { type Watched, watchTask } from "./watched.ts";

export type { End, Seen, Watched } from "./watched.ts";

const START_MS = 600_000;
/** Maximum duration of one siege: an event that never comes is a failure, not a wait. */
const SIEGE_MS = 1_800_000;

/** A test's options of a task; the defaults are an honest operator's. */
export interface Draft {
  /** Source of a hostile worker: an IIFE that evaluates to `{ turn(ports, message) }`. */
  readonly program?: string;
  /** Turns of the scripted model, YAML beneath `turns:`, or a whole scenario. */
  readonly turns?: string;
  readonly scenario?: string;
  readonly request?: string;
  readonly mounts?: readonly Mount[];
  readonly limits?: Partial<Limits>;
  readonly phase?: TaskRequest["phase"];
  readonly onQuestion?: TaskRequest["onQuestion"];
  readonly profile?: TaskRequest["profile"];
  readonly colour?: TaskRequest["ingress"]["colour"];
  readonly interactive?: boolean;
  readonly session?: string;
  readonly agent?: TaskRequest["agent"];
  readonly agents?: TaskRequest["agents"];
  readonly memory?: TaskRequest["memory"];
  readonly wikis?: TaskRequest["wikis"];
  readonly mcp?: TaskRequest["mcp"];
}

/** A besieged kernel. */
export interface Siege {
  readonly dir: string;
  /** A folder to mount. */
  readonly desk: string;
  readonly config: KernelConfig;
  /** The kernel's operating-system process. */
  readonly pid: number;
  readonly person: Signer;
  /** One request to the kernel, as the operator. */
  ask(op: string, body: unknown): Promise<unknown>;
  connect(): Promise<KernelLink>;
  run(draft: Draft): Promise<Watched>;
  watch(id: TaskId): Promise<Watched>;
  mount(changes?: Partial<Mount>): Mount;
  /** Answers a question with the person's key, or with another. */
  answer(question: string, decision: Answer["decision"], more?: AnswerMore): Promise<void>;
  question(id: string): Promise<Question>;
  /** Kills the kernel without warning, and starts it again over the same state. */
  restart(changes?: Partial<KernelConfig>): Promise<void>;
}

/** How an answer differs from a plain one. */
export interface AnswerMore {
  readonly for?: Answer["for"];
  readonly signer?: Signer;
  /** Text with the answer: for a form, its JSON. */
  readonly say?: string;
  /** Contents that the person saw whole. */
  readonly sanitizes?: Answer["sanitizes"];
  readonly channel?: Answer["channel"];
  /** Changes the signed answer. */
  readonly forge?: (answer: Answer) => Answer;
}

/** A test's changes to the kernel. */
export interface SiegeOptions {
  readonly config?: Partial<KernelConfig>;
}

/** Runs `f` against a fresh kernel, and ends the kernel and what it started. */
export async function besiege(
  f: (siege: Siege) => Promise<void>,
  options: SiegeOptions = {},
): Promise<void> {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-siege-" }));
  for (const folder of ["kernel", "run", "run/net", "trees", "desk", "desk/notes"]) {
    await Deno.mkdir(`${dir}/${folder}`, { mode: 0o700 });
  }
  await Deno.writeTextFile(`${dir}/desk/notes/plan.md`, "call the supplier\n");
  const bundles = await testBundles();
  const person = openKey(makeKeyFile());
  const config: KernelConfig = {
    dir: `${dir}/kernel`,
    runtime: `${dir}/run`,
    weights: "/nowhere",
    addon: "",
    bundles: { ...bundles.children, ...NOT_BUILT },
    programs: await findPrograms(),
    denoDir: bundles.denoDir,
    tools: { plugins: [] },
    secrets: [],
    secretsDigest: "",
    commands: [],
    browser: { engine: "static", program: "/usr/bin/chromium" },
    personKey: person.key,
    policy: NO_POLICY,
    harness: "siege",
    brokerSockets: Array.from({ length: 8 }, (_, n) => `${dir}/run/b${n}`),
    proxySockets: Array.from({ length: 4 }, (_, n) => `${dir}/run/net/p${n}`),
    mcpTrees: `${dir}/trees`,
    controlSocket: `${dir}/run/c`,
    // Ends by itself if the test is killed.
    stay: false,
    idleMs: 10_000,
    pool: { workers: 1, plugins: 1 },
    ...options.config,
  };
  const links: KernelLink[] = [];
  const connect = async (): Promise<KernelLink> => {
    const wire = await connectSocket(config.controlSocket);
    if (wire === undefined) throw new Error("Cannot connect: no kernel listens");
    const link = await greet(wire, config.harness);
    links.push(link);
    return link;
  };
  const start = async (
    changes: Partial<KernelConfig> = {},
  ): Promise<{ pid: number; link: KernelLink }> => {
    const kernel = await startKernel({ ...config, ...changes }, {
      bundle: bundles.kernel,
      mounts: [`${dir}/desk`],
    });
    let ended: number | undefined;
    void kernel.ended.then((code) => ended = code);
    const before = performance.now();
    for (;;) {
      const wire = await connectSocket(config.controlSocket);
      if (wire !== undefined) {
        wire.close();
        // Threads of a killed kernel may still hold its socket: it sends no greeting.
        const link = await connect().catch(unlessGone);
        if (link !== undefined) return { pid: await pidOf(config.dir), link };
      }
      if (ended !== undefined || performance.now() - before > START_MS) {
        throw new Error(`Cannot start the kernel: ${kernel.log()}`);
      }
      // TIMER: a socket that does not exist yet gives no event.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  let now = await start();
  const watch = async (id: TaskId): Promise<Watched> => await watchTask(await connect(), id);
  const siege: Siege = {
    dir,
    desk: `${dir}/desk`,
    config,
    person,
    connect,
    watch,
    get pid() {
      return now.pid;
    },
    ask: (op, body) => now.link.ask(op, toJson(body)),
    mount: (changes = {}) => ({
      name: MountName.parse("desk"),
      dir: `${dir}/desk`,
      mode: "stage",
      colour: "YELLOW",
      label: "internal",
      marks: [],
      ...changes,
    }),
    async run(draft): Promise<Watched> {
      const { task } = await siege.ask("run", requestOf(siege, draft)) as { task: string };
      return await watch(TaskId.parse(task));
    },
    question: async (id) => Question.parse(await siege.ask("question", { question: id })),
    async answer(id, decision, more = {}): Promise<void> {
      const said = more.say === undefined ? {} : { say: more.say };
      const { sanitizes } = more;
      const kind = { by: "carol", channel: more.channel ?? "terminal", sanitizes };
      const verdict = { decision, for: more.for ?? "once", ...said, ...kind };
      const signed = signAnswer(await siege.question(id), verdict as Answer, {
        signer: more.signer ?? person,
        at: Date.now(),
      });
      await siege.ask("answer", more.forge?.(signed) ?? signed);
    },
    async restart(changes): Promise<void> {
      // The kernel may have ended itself, at a failpoint.
      kill9(now.pid);
      for (const link of links.splice(0)) await link.closed;
      // Its socket still accepts connections while its other sockets are closed already.
      await gone(now.pid);
      now = await start(changes);
    },
  };
  const late = Promise.withResolvers<never>();
  // TIMER: a deadline for the whole siege, which ends long before.
  const timer = setTimeout(
    () => late.reject(new Error(`the siege did not end in ${SIEGE_MS} ms`)),
    SIEGE_MS,
  );
  try {
    await Promise.race([f(siege), late.promise]);
  } finally {
    clearTimeout(timer);
    for (const link of links) link.close();
    try {
      Deno.kill(now.pid, "SIGKILL");
    } catch { /* it has ended meanwhile */ }
    await gone(now.pid);
    await Deno.remove(dir, { recursive: true });
  }
}

/** Tells whether a process with this id runs; a zombie does not. */
export function runs(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}

/** Resolves when none of these processes runs any more; throws after `ms`. */
export async function gone(pids: number | readonly number[], ms = 600_000): Promise<void> {
  const before = performance.now();
  for (const pid of [pids].flat()) {
    while (runs(pid)) {
      if (performance.now() - before > ms) throw new Error(`process ${pid} still runs`);
      // TIMER: the end of a process that is not a child gives no event.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** The folder of a test run's built programs. */
export function cache(): string {
  const home = process.env["XDG_CACHE_HOME"] ?? `${process.env["HOME"]}/.cache`;
  return `${home}/remit`;
}

function requestOf(siege: Siege, draft: Draft): object {
  const text = draft.scenario ??
    `scenario: siege\nturns:\n${draft.turns ?? "  - say: Well.\n    loop: true"}\n`;
  return {
    request: draft.request ?? "Do what you can.",
    session: draft.session ?? SessionId.parse("s000000000000"),
    ingress: {
      channel: "terminal",
      principal: "alice",
      colour: draft.colour ?? "BLUE",
      label: "public",
    },
    profile: draft.profile ?? "operator",
    mounts: draft.mounts ?? [siege.mount()],
    model: { ref: "scripted:siege.yaml", config: JSON.stringify({ file: "siege.yaml", text }) },
    limits: draft.limits ?? {},
    onQuestion: draft.onQuestion ?? "queue",
    phase: draft.phase ?? "work",
    interactive: draft.interactive ?? false,
    ...(draft.program === undefined ? {} : { program: draft.program }),
    ...(draft.agent === undefined ? {} : { agent: draft.agent }),
    ...(draft.agents === undefined ? {} : { agents: draft.agents }),
    ...(draft.memory === undefined ? {} : { memory: draft.memory }),
    ...(draft.wikis === undefined ? {} : { wikis: draft.wikis }),
    ...(draft.mcp === undefined ? {} : { mcp: draft.mcp }),
  };
}

async function pidOf(folder: string): Promise<number> {
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const line = await Deno.readTextFile(`/proc/${name}/cmdline`);
      if (line.includes(`--allow-read=${folder},`)) return Number(name);
    } catch { /* it has ended meanwhile */ }
  }
  throw new Error(`Cannot find the kernel of "${folder}"`);
}

function unlessGone(error: unknown): undefined {
  if (error instanceof Fault && error.code === "gone") return undefined;
  throw error;
}
