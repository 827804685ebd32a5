/** A real kernel for measurements: started as init starts it, spoken to over its control socket. */
import { NOT_BUILT, provideBundles } from "../launch/program/bundles_powers.ts";
import type { KernelLink } from "../launch/kernel/kernels.ts";
import { startKernel } from "../launch/kernel/start_powers.ts";
import { greet } from "../launch/kernel/link.ts";
import { makeKeyFile, openKey } from "../config/key/person_key_powers.ts";
import { findPrograms } from "../launch/program/programs_powers.ts";
import { signAnswer } from "../cli/question/sign_answer.ts";
import { connectSocket } from "../launch/kernel/socket_powers.ts";
import { Question, SessionId } from "../contracts/authority/mod.ts";
import { type Json, toJson } from "../contracts/base/mod.ts";
import { NO_POLICY } from "../contracts/policy/mod.ts";
import type { TaskRequest } from "../contracts/task/mod.ts";
import type { Mount } from "../contracts/tool/mod.ts";
import type { KernelConfig } from "../contracts/wire/mod.ts";

/** A kernel under measurement. */
export interface BenchKernel {
  readonly link: KernelLink;
  readonly dir: string;
  readonly pid: number;
  /** Runs a task to its end; resolves with its exit code. */
  run(request: TaskRequest): Promise<number>;
  /** The same for any request that the kernel takes. */
  finish(request: object): Promise<{ readonly task: string; readonly exit: number }>;
  close(): Promise<void>;
}

/** Where what is built lies: the same as the command line's. */
export function cacheFolder(): string {
  return `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/remit`;
}

/** Starts a kernel over a fresh state. */
export async function startBenchKernel(
  { brokers = 16, ...extra }:
    & Partial<Pick<KernelConfig, "pool" | "tools" | "commands" | "bundles" | "mcpTrees" | "policy">>
    & { readonly brokers?: number } = {},
): Promise<BenchKernel> {
  const dir = await Deno.makeTempDir({ prefix: "remit-bench-" });
  const home = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
  const bundles = await provideBundles({
    home,
    cache: cacheFolder(),
    onBuild: () => undefined,
  });
  const person = openKey(makeKeyFile());
  const config: KernelConfig = {
    dir: `${dir}/kernel`,
    runtime: `${dir}/run`,
    bundles: { ...bundles.children, ...NOT_BUILT },
    programs: await findPrograms(),
    denoDir: bundles.denoDir,
    weights: "/nowhere",
    addon: "",
    tools: { plugins: [] },
    secrets: [],
    secretsDigest: "",
    commands: [],
    browser: { engine: "static", program: "/usr/bin/chromium" },
    personKey: person.key,
    policy: NO_POLICY,
    harness: "bench",
    brokerSockets: Array.from({ length: brokers }, (_, n) => `${dir}/run/b${n}`),
    proxySockets: [],
    mcpTrees: `${dir}/trees`,
    controlSocket: `${dir}/run/control`,
    stay: true,
    idleMs: 1_000,
    pool: { workers: 4, plugins: 1 },
    ...extra,
  };
  for (const each of [config.dir, config.runtime]) await Deno.mkdir(each, { mode: 0o700 });
  const started = await startKernel(config, { bundle: bundles.kernel, mounts: [] });
  const link = await connected(config.controlSocket, started);
  const ends = new Map<string, (exit: number) => void>();
  const early = new Map<string, number>();
  link.onTell((op, body) => {
    const { event, body: asked } = body as { event?: string; body?: { question?: string } };
    if (event === "questionAsked" && asked?.question !== undefined) void allow(asked.question);
    if (op !== "end") return;
    const { task, exit } = body as { task: string; exit: number };
    const waiting = ends.get(task);
    if (waiting === undefined) early.set(task, exit);
    else waiting(exit);
  });
  /** A task that asks is allowed what it asks, for as long as its session lasts. */
  const allow = async (question: string): Promise<void> => {
    const verdict = {
      decision: "allow",
      for: "session",
      by: "bench",
      channel: "terminal",
    } as const;
    const signed = signAnswer(Question.parse(await link.ask("question", { question })), verdict, {
      signer: person,
      at: Date.now(),
    });
    await link.ask("answer", toJson(signed));
  };
  const finish: BenchKernel["finish"] = async (request) => {
    const { task } = await link.ask("run", toJson(request)) as { task: string };
    const done = new Promise<number>((resolve) => ends.set(task, resolve));
    await link.ask("watch", { task, from: 0 });
    return { task, exit: early.get(task) ?? await done };
  };
  const { pid } = await link.ask("hello", { version: 1, harness: "bench" }) as { pid: number };
  return {
    link,
    dir,
    pid,
    finish,
    run: async (request) => (await finish(request)).exit,
    async close(): Promise<void> {
      await link.ask("stop", null).catch(() => null as Json);
      link.close();
      await started.ended;
      await Deno.remove(dir, { recursive: true });
    },
  };
}

async function connected(
  socket: string,
  started: Awaited<ReturnType<typeof startKernel>>,
): Promise<KernelLink> {
  let dead = false;
  void started.ended.then(() => dead = true);
  for (;;) {
    const wire = await connectSocket(socket);
    if (wire !== undefined) return await greet(wire, "bench");
    if (dead) throw new Error(`the kernel ended: ${started.log()}`);
    // TIMER: nothing tells when a socket begins to listen.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A request of a scripted model. */
export function benchRequest(scenario: string, mounts: readonly Mount[] = []): TaskRequest {
  return {
    request: "measure",
    session: SessionId.parse("s000000000000"),
    ingress: { channel: "terminal", principal: "bench", colour: "BLUE", label: "internal" },
    profile: "operator",
    mounts: [...mounts],
    model: {
      ref: "scripted:bench.yaml",
      config: JSON.stringify({ file: "bench.yaml", text: scenario }),
    },
    limits: {},
    onQuestion: "queue",
    phase: "work",
    interactive: false,
  };
}
