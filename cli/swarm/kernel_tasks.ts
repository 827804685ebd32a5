/** Runs a swarm's tasks on a kernel: each is a durable task over a private tree. @module */
import {
  type Label,
  mixColour,
  mixLabel,
  SessionId,
  TaskId,
} from "../../contracts/authority/mod.ts";
import { Fault, type FaultCode, type Json, toJson } from "../../contracts/base/mod.ts";
import type { AgentSpec } from "../../contracts/policy/mod.ts";
import { AGENT_PROFILES } from "../../contracts/policy/agent_profiles.ts";
import { AgentTask, type Staged, TaskRequest } from "../../contracts/task/mod.ts";
import type {
  StagedFile,
  SwarmPlan,
  SwarmPowers,
  SwarmTasks,
  TaskAsk,
  TaskEnd,
} from "../../swarm/mod.ts";
import { readSeen } from "../audit/event_fields.ts";
import type { Command } from "../command.ts";
import { resolveMount } from "../../launch/disk/mounts.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { modelParts } from "../model/choice.ts";
import { type ResolvedModel, resolveModel } from "../model/ref.ts";
import { readContent } from "../question/shown_content.ts";
import { chooseAgent, instructionsIn, limitsOf } from "../run/agent_choice.ts";
import { kernelFor } from "../run/kernel_for.ts";
import type { RunSetting } from "../run/run_setting.ts";
import { readPast } from "../run/run_task.ts";
import { askStaged } from "../run/watch_task.ts";

/** The command of a swarm, with its powers. */
export type SwarmCommand = Command<
  Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "swarm" | "wikis"
>;

/** Tools that no worker gets: for asking to change its tree, and for starting or writing to other agents. */
const WITHHELD: ReadonlySet<string> = new Set([
  ...["patch_apply", "outbox_publish", "agent_spawn", "agent_wait", "agent_send", "agent_kill"],
]);

/** Milliseconds between two looks at one task; at most so many looks a second over all tasks. */
const LOOK_MS = 300, LOOKS_A_SECOND = 100;

/** Looks at a queued task before reporting that no kernel takes it. */
const QUEUED_LOOKS = 10;
/** How often a silent kernel is asked; each time the own kernel waits for it. */
const MAX_SILENCES = 2;

function isFault(error: unknown, ...codes: readonly FaultCode[]): error is Fault {
  return error instanceof Fault && codes.includes(error.code);
}

/** A swarm's tasks; `close` closes their link. */
export interface KernelTasks extends SwarmTasks {
  close(): void;
}

/** Resolves a plan's models, by their references; the key "" stands for the run's own. @throws as resolveModel */
async function modelsOf(
  command: SwarmCommand,
  plan: SwarmPlan,
  setting: RunSetting,
): Promise<ReadonlyMap<string, ResolvedModel>> {
  const found = new Map<string, ResolvedModel>([["", setting.resolved]]);
  for (const ref of Object.values(plan.roles).flatMap(({ models }) => models ?? [])) {
    if (!found.has(ref)) {
      found.set(ref, await resolveModel(ref, modelParts(command, setting.config), {}));
    }
  }
  return found;
}

/** The agent of a role. It starts no agents, and a reviewer's tools only read. @throws Fault `notFound` */
function agentOf(
  plan: SwarmPlan,
  { config }: Pick<RunSetting, "config">,
  role: string,
  work: TaskAsk["work"],
): AgentSpec {
  const { agent: named, persona = "" } = plan.roles[role] ?? {};
  const spec = chooseAgent(config.agents, named ?? role);
  const usual = AGENT_PROFILES.get(work === "author" ? "coder" : "reviewer");
  if (spec === undefined || usual === undefined) throw new TypeError(`Cannot play role "${role}"`);
  const capabilities = (spec.capabilities ?? usual.capabilities ?? [])
    .filter(({ tool }) => !WITHHELD.has(tool));
  const { mounts: _mounts, memory: _memory, program: _program, ...rest } = spec;
  return {
    ...rest,
    capabilities: [...capabilities],
    agents: [],
    persona: [spec.persona, persona].filter((each) => each !== "").join("\n\n"),
  };
}

/** The models and agents of a plan's roles. */
export interface Cast {
  /** By the plan's references; "" is the run's own model. */
  readonly models: ReadonlyMap<string, ResolvedModel>;
  /** By role. */
  readonly agents: ReadonlyMap<string, AgentSpec>;
}

/**
 * Finds the models and agents of a plan's roles.
 *
 * @throws Fault `notFound` for an unknown agent; faults of resolving models
 */
export async function castOf(
  command: SwarmCommand,
  plan: SwarmPlan,
  setting: RunSetting,
): Promise<Cast> {
  const agents = new Map<string, AgentSpec>();
  for (const role of [plan.author, ...plan.issues.map(({ role }) => role ?? plan.author)]) {
    agents.set(role, agentOf(plan, setting, role, "author"));
  }
  if (plan.stages.length > 0) {
    agents.set(plan.planner, agentOf(plan, setting, plan.planner, "stage"));
  }
  agents.set(plan.reviewer, agentOf(plan, setting, plan.reviewer, "review"));
  return { models: await modelsOf(command, plan, setting), agents };
}

/** Makes the tasks of a plan. */
export function makeKernelTasks(
  command: SwarmCommand,
  { plan, setting, cast, anywhere, waits }: {
    readonly plan: SwarmPlan;
    readonly setting: RunSetting;
    readonly cast: Cast;
    /** Any kernel of the fleet with access to the trees may take the tasks. */
    readonly anywhere: boolean;
    /** Called when a task waits: each time for a person, once for a kernel that takes work. */
    waits(task: string, whom: "person" | "kernel"): void;
  },
): KernelTasks {
  const { powers, places } = command;
  const { swarm }: { readonly swarm: SwarmPowers } = powers;
  const { models, agents } = cast;
  const mine = setting.mounts[0];

  const all = [...models.values()];
  const needs = {
    ...setting,
    resolved: {
      choice: setting.resolved.choice,
      lends: all.flatMap(({ lends }) => lends),
      programs: [...new Set(all.flatMap(({ programs }) => programs))],
      providers: all.flatMap(({ providers }) => providers),
    },
  };
  let link: Promise<KernelLink> | undefined;
  let looking = 0;
  const ask = async <T>(use: (link: KernelLink) => Promise<T>): Promise<T> => {
    for (let tries = 0;; tries++) {
      link ??= kernelFor(command, needs);
      const now = link;
      try {
        return await use(await now);
      } catch (error) {
        // A killed kernel is started again, and continues its tasks.
        if (!isFault(error, "gone") || tries >= 5) throw error;
        (await now.catch(() => undefined))?.close();
        if (link === now) link = undefined;
        await swarm.rest(200 * (tries + 1));
      }
    }
  };
  const say = (op: string, body: Json): Promise<Json> => ask((to) => to.ask(op, body));

  const requestOf = (asked: TaskAsk): TaskRequest => {
    const model = models.get(asked.model), agent = agents.get(asked.role);
    if (model === undefined || agent === undefined || mine === undefined) {
      throw new TypeError(`Cannot start a task as "${asked.role}"`);
    }
    const tree = resolveMount(
      { name: asked.mount, dir: asked.folder, mode: asked.work === "author" ? "stage" : "ro" },
      {
        environment: powers.environment,
        disk: powers.disk,
        places,
        colour: mine.colour,
        label: mine.label,
      },
    );
    // Marks of the person's folder also hold in its copy.
    const mount = { ...tree, marks: mine.marks };
    const limits = limitsOf(agent, setting.config.policy.limits);
    const { taskMoney, taskMinutes } = plan.limits;
    return TaskRequest.parse({
      request: asked.request.slice(0, 200_000),
      session: SessionId.parse(asked.session),
      ingress: ingressOf(asked, mine.label),
      ...{
        profile: "operator",
        mounts: [mount],
        folder: setting.folder,
        model: model.choice,
        agent,
      },
      limits: {
        ...limits,
        money: Math.min(limits.money ?? taskMoney, taskMoney),
        wallClockMs: Math.round(Math.min(limits.wallClockMs ?? Infinity, taskMinutes * 60_000)),
        children: 0,
      },
      ...{ onQuestion: "queue", interactive: false, review: "asked" },
      phase: asked.work === "author" ? "work" : "review",
      instructions: instructionsIn([mount], (path) => powers.disk.stat(path) !== undefined),
    });
  };

  /** Asks a silent kernel again: it may be recovering, or another one may have taken over its tasks. */
  const overFleet = async <T>(use: () => Promise<T>): Promise<T> => {
    for (let tries = 1;; tries++) {
      try {
        return await use();
      } catch (error) {
        if (!isFault(error, "timedOut") || tries >= MAX_SILENCES) throw error;
      }
    }
  };
  const withdrawn = new Set<string>();

  const moneyOf = async (task: TaskId): Promise<number> => {
    const past = await ask((to) => readPast(to, task));
    return past.reduce<number>((sum, told) => {
      const seen = readSeen(told);
      const paid = seen?.kind === "event" && seen.event.event === "inferred"
        ? seen.event.body["money"]
        : 0;
      return sum + (typeof paid === "number" && paid > 0 ? paid : 0);
    }, 0);
  };

  const look = async (task: string, signal: AbortSignal): Promise<TaskEnd | undefined> => {
    const id = TaskId.parse(task);
    let told = false, queued = 0;
    for (;;) {
      let now: AgentTask;
      try {
        now = AgentTask.parse(await say("task", { task: id }));
      } catch (error) {
        if (!isFault(error, "notFound")) throw error;
        // A queued task belongs to no kernel yet.
        if (!anywhere || withdrawn.has(task)) {
          return { status: "gone", answer: "", reason: "its task is gone", money: 0 };
        }
        if (signal.aborted) return undefined;
        queued += 1;
        if (queued === QUEUED_LOOKS) waits(task, "kernel");
        await swarm.rest(LOOK_MS, signal);
        continue;
      }
      const { status, answer = "", reason = "", label, colour } = now;
      if (
        status === "done" || status === "failed" || status === "cancelled" || status === "expired"
      ) {
        return { status, answer, reason, label, colour, money: await moneyOf(id) };
      }
      if (status !== "needsApproval") told = false;
      else if (!told) {
        told = true;
        waits(task, "person");
      }
      if (signal.aborted) return undefined;
      await swarm.rest(Math.max(LOOK_MS, looking * 1_000 / LOOKS_A_SECOND), signal);
    }
  };

  return Object.freeze<KernelTasks>({
    async start(asked): Promise<string> {
      const request = toJson(requestOf(asked));
      // The kernel or fleet makes one task of repeated requests.
      const answer = anywhere
        ? await say("fleet", { kind: "run", request })
        : await say("run", request);
      return TaskId.parse((answer as { readonly task?: unknown } | null)?.task);
    },
    async follow(task, signal): Promise<TaskEnd | undefined> {
      looking += 1;
      try {
        return await look(task, signal);
      } finally {
        looking -= 1;
      }
    },
    async cancel(task): Promise<void> {
      withdrawn.add(task);
      await cancelAt(() => overFleet(() => say("cancel", { task })), {
        anywhere,
        rest: swarm.rest,
      });
    },
    async staged(task): Promise<readonly StagedFile[] | undefined> {
      let found: Staged;
      try {
        found = await overFleet(() => ask((to) => askStaged(to, task)));
      } catch (error) {
        if (!isFault(error, "timedOut", "notFound")) throw error;
        return undefined;
      }
      const { changes, content } = found;
      const name = `${mine?.name}/`;
      return changes.map(({ path, base, next, bytes, executable }): StagedFile => {
        if (!path.startsWith(name)) {
          throw new Fault(
            "refused",
            `Cannot take the change: "${path}" lies outside the repository`,
          );
        }
        return {
          path: path.slice(name.length),
          ...(base === undefined ? {} : { base }),
          ...(next === undefined ? {} : { bytes }),
          ...(executable === true ? { executable } : {}),
          read: () =>
            next === undefined ? new Uint8Array() : readContent(powers.disk, content, next),
        };
      });
    },
    resources: (body) => say("resources", body),
    provider(model): string {
      const found = models.get(model);
      const host = found?.providers[0]?.host;
      const [kind = ""] = (found?.choice.ref ?? "").split(":", 1);
      return (host === undefined ? kind : `${kind}@${host}`).slice(0, 64);
    },
    close(): void {
      void link?.then((open) => open.close(), () => undefined);
    },
  });
}

/** How often the cancelling of an unfound task is repeated, and the milliseconds between. */
const TRIES = 20, AGAIN_MS = 500;

/**
 * Cancels a task. Between the moment at which a kernel of the fleet takes a task from the queue (`anywhere`) and the
 * task's first event no kernel finds it: cancelling is then repeated, since the task would run to its limits otherwise.
 *
 * @throws what `cancel` throws, but for a task that has ended or whose kernel is gone
 */
export async function cancelAt(
  cancel: () => Promise<unknown>,
  { anywhere, rest }: { readonly anywhere: boolean; rest(ms: number): Promise<void> },
): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      await cancel();
      return;
    } catch (error) {
      const code = error instanceof Fault ? error.code : undefined;
      // The task has ended; or its kernel has, and the kernel that takes over ends it within its limits.
      if (code === "conflict" || code === "timedOut") return;
      if (code !== "notFound") throw error;
      if (!anywhere || tries >= TRIES) return;
    }
    await rest(AGAIN_MS);
  }
}

/**
 * The ingress of a swarm's task, from a schedule: repeated requests of one session make one task. `own`: the label of the
 * person's folder.
 *
 * An issue is somebody's words: YELLOW. An earlier task may have read anything and may repeat it: a request with its words
 * is RED, and as confidential as what that task had read. No person reviewed a merged change in the tree: whoever works on
 * it has the colour and label of its author.
 */
export function ingressOf(
  asked: Pick<TaskAsk, "swarm" | "work" | "heard" | "label" | "merged">,
  own: Label,
): TaskRequest["ingress"] {
  return {
    ...{ channel: "schedule", principal: `swarm:${asked.swarm}` },
    colour: asked.work === "author" && !asked.heard ? mixColour("YELLOW", asked.merged) : "RED",
    label: mixLabel(own, asked.label),
  };
}
