/** Opens sessions of MCP hosts: their tasks, their answers, and what they are told. @module */
import * as z from "zod";
import {
  type Answer,
  type Colour,
  type Label,
  Question,
  type QuestionId,
  SessionId,
  TaskId,
} from "../../contracts/authority/mod.ts";
import { Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import type { ImportedServer } from "../../contracts/exchange/mod.ts";
import type { AgentSpec } from "../../contracts/policy/mod.ts";
import { type Ingress, type Limits, type Profile, TaskRequest } from "../../contracts/task/mod.ts";
import { type Mount, ToolDescriptor } from "../../contracts/tool/mod.ts";
import {
  type ServeHolder,
  ServePrompt,
  type ServeSession,
  type ServeTask,
} from "../../contracts/wire/mod.ts";
import { CALLER_PROGRAM, type HostKernel, type Lane, openLane } from "./lane.ts";
import type { MediatedSession } from "./mediator.ts";
import {
  followHostTask,
  HOST_SINK,
  mayConsent,
  type RunningHostTask,
  tellingOf,
  type TellingParts,
} from "./result.ts";
import { openHostSession } from "./session.ts";

const REQUEST = { name: "request", description: "What to do.", required: true };

const COMMON: readonly ServePrompt[] = [
  {
    name: "look_around",
    title: "What is in the folders",
    description: "Lists the folders that this session sees and says what they hold.",
    arguments: [],
    text:
      "List the folders that Remit's tools show you, read what seems to explain them, and say in a few " +
      "sentences what is there. Change nothing.",
  },
  {
    name: "find_in_files",
    title: "Find something in the files",
    description: "Searches the folders and answers with file and line.",
    arguments: [{ name: "question", description: "What to look for.", required: true }],
    text:
      "Search the folders that Remit's tools show you for an answer to this question, and give it with the " +
      "file and line of each thing you say:\n\n{{question}}",
  },
  {
    name: "stage_a_change",
    title: "Prepare a change",
    description: "Stages a change of files for review; nothing is applied before a person agrees.",
    arguments: [REQUEST],
    text:
      "Prepare this change with Remit's file tools. It is staged, and a person reviews it before it is applied. " +
      "Say at the end which files you changed and why:\n\n{{request}}",
  },
];

const WIKI: ServePrompt = {
  name: "ask_the_wiki",
  title: "Ask the wiki",
  description: "Answers from the wiki alone, with citations.",
  arguments: [{ name: "question", description: "The question.", required: true }],
  text:
    "Answer this question from Remit's wiki alone (wiki_search with queries, wiki_read). Cite every claim with file and " +
    "lines, and say so when the wiki does not know:\n\n{{question}}",
};

/** The prompts that a host may show: a few common tasks, and one for each agent of remit.yaml. */
function promptsOf(
  parts: { readonly wiki: boolean; readonly agents: Readonly<Record<string, AgentSpec>> },
): readonly ServePrompt[] {
  const agents = Object.keys(parts.agents).sort().map((name) =>
    ServePrompt.safeParse({
      name: `ask_${name.replaceAll("-", "_")}`.slice(0, 64),
      title: `Hand a task to ${name}`,
      description: `Runs the agent "${name}" of remit.yaml with run_task.`,
      arguments: [REQUEST],
      text:
        `Call run_task with agent "${name}" and exactly this request, and report its answer:\n\n{{request}}`,
    })
  ).flatMap((parsed) => parsed.success ? [parsed.data] : []);
  return [...COMMON, ...(parts.wiki ? [WIKI] : []), ...agents];
}

/** Limits of a session's task unless others are set: the task lives as long as its host. */
const SESSION_LIMITS: Partial<Limits> = {
  wallClockMs: 12 * 60 * 60_000,
  toolCalls: 5_000,
  questions: 500,
  resultBytes: 512_000_000,
};

/** The parts of hosts' tasks, settled from flags and remit.yaml. */
export interface HostSetting {
  readonly mounts: readonly Mount[];
  readonly model: TaskRequest["model"];
  readonly config: {
    readonly policy: {
      readonly selfConsent: boolean;
      readonly clearance: Readonly<Record<string, Label>>;
    };
    readonly agents: Readonly<Record<string, AgentSpec>>;
  };
  readonly agent: AgentSpec | undefined;
  readonly limits: Partial<Limits>;
  readonly instructions: readonly string[];
  readonly memory: TaskRequest["memory"];
  readonly wikis: readonly string[];
  readonly mcp: readonly ImportedServer[];
}

/** A host's identity for the kernel. */
export interface HostName {
  readonly profile: Profile;
  /** Whether the host runs at this terminal, over a pipe. */
  readonly own: boolean;
  /** The id of its token, or `host` over a pipe. */
  readonly principal: string;
  readonly session: SessionId;
}

/** The most confidential label that hosts may see. */
function hostClearance({ config }: HostSetting): Label {
  return config.policy.clearance[HOST_SINK] ?? "internal";
}

/** The colour of a host's words: YELLOW for the operator at this terminal, else RED. */
function hostColour({ profile, own }: Pick<HostName, "profile" | "own">): Colour {
  return own && profile === "operator" ? "YELLOW" : "RED";
}

function ingressOf(host: HostName): Ingress {
  return {
    channel: "mcp",
    principal: `mcp:${host.principal}`.slice(0, 128),
    colour: hostColour(host),
    label: "internal",
  };
}

/** Asks the kernel for a host's task. Only a session's own tasks run the caller program. */
async function createHostTask(
  link: HostKernel,
  setting: HostSetting,
  host: HostName,
  asked: { readonly request: string; readonly interactive: boolean },
): Promise<TaskId> {
  const { memory, wikis, mounts, agent, limits } = setting;
  const clearance = hostClearance(setting);
  const request = TaskRequest.parse({
    request: asked.request,
    session: host.session,
    ingress: ingressOf(host),
    profile: host.profile,
    mounts,
    model: setting.model,
    limits: asked.interactive ? { ...SESSION_LIMITS, ...limits } : limits,
    ...(agent === undefined ? {} : { agent }),
    ...(memory === undefined
      ? {}
      : { memory: { ...memory, clearance: lower(memory.clearance, clearance) } }),
    ...(wikis.length === 0 ? {} : { wikis }),
    ...(asked.interactive || setting.instructions.length === 0
      ? {}
      : { instructions: setting.instructions }),
    mcp: setting.mcp,
    onQuestion: "queue",
    phase: "work",
    interactive: asked.interactive,
    // Each turn is one call: the host decides when its changes are reviewed, as an agent does.
    ...(asked.interactive ? { program: CALLER_PROGRAM, review: "asked" } : {}),
  });
  const answer = await link.ask("run", toJson(request));
  return TaskId.parse((answer as { readonly task?: unknown } | null)?.task);
}

const ORDER: readonly Label[] = ["public", "internal", "secret"];

function lower(a: Label, b: Label): Label {
  return ORDER.indexOf(a) <= ORDER.indexOf(b) ? a : b;
}

/** Maximum concurrent tasks of `run_task` in one session. */
const MAX_RUNNING = 4;

/** The powers of {@link openHost}, and the parts of its tasks. */
export interface HostParts {
  /** The parts of the tasks that make calls. */
  readonly setting: HostSetting;
  /** A session with the kernel, for questions. */
  readonly link: Promise<HostKernel>;
  /** Opens another session with the running kernel. Rejects `gone` where the kernel has ended. */
  another(): Promise<HostKernel>;
  /** Settles a task of `run_task` for an agent, and opens a session with its kernel. */
  settle(agent: string | undefined): Promise<{
    readonly setting: HostSetting;
    readonly kernel: HostKernel;
  }>;
  /** Signs a decision about a question with the person's consent key. `by` names who decided. */
  sign(question: Question, verdict: { readonly allow: boolean; readonly by: string }): Answer;
  readonly show: TellingParts["show"];
  readonly where: TellingParts["where"];
  /** Whether the host runs at this terminal, over a pipe. */
  readonly own: boolean;
  /** Tells the gateway. */
  tell(op: "progress" | "toolsChanged", body: Json): void;
  id(prefix: string): string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms` milliseconds, or when `signal` aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

/** Opens a host's session; creates its first task when the kernel is ready. */
export function openHost(
  parts: HostParts,
  session: string,
  { holder, profile }: ServeHolder,
): MediatedSession {
  const { setting, link: linking, own, tell, pause } = parts;
  const host: HostName = {
    ...{ profile, own, principal: holder, session: SessionId.parse(parts.id("s")) },
  };
  const { policy, agents } = setting.config;
  const only = setting.agent?.name;
  const names = Object.keys(agents).filter((name) => only === undefined || name === only).sort();
  const telling: Omit<TellingParts, "task"> = {
    ...{ clearance: hostClearance(setting), show: parts.show, where: parts.where },
    // Nobody knows the person behind an anonymous host, so their consent does not count.
    selfConsent: policy.selfConsent && profile !== "anonymous",
  };

  const answerFor = async (lane: Lane, id: QuestionId, allow: boolean): Promise<void> => {
    const link = await linking;
    const question = Question.parse(await link.ask("question", { question: id }));
    // TRUST: only questions of this session's own task, and only consent.
    if (question.task !== lane.task || !mayConsent(question, telling)) {
      throw new Fault("refused", `Cannot answer question ${id}: a host may not answer it`);
    }
    // Read and hash the contents before anything is signed.
    const { content } = await link.staged(lane.task);
    for (const change of question.changes) parts.show(content, change);
    const answer = parts.sign(question, { allow, by: `mcp:${holder} (elicitation)` });
    await link.ask("answer", toJson(answer));
  };

  const calls = openHostSession({
    async openLane(on): Promise<Lane> {
      await linking;
      const own = await parts.another();
      try {
        const task = await createHostTask(own, setting, host, {
          request: `A host's session over MCP (${holder}).`,
          interactive: true,
        });
        return await openLane({ ...on, link: own, task, clearance: telling.clearance });
      } catch (error) {
        own.close();
        throw error;
      }
    },
    toolsOf: async (lane) =>
      z.array(ToolDescriptor).parse(await (await linking).ask("tools", { task: lane.task })),
    tell: (end, lane) => tellingOf(end, { ...telling, task: lane?.task ?? "" }),
    answerFor,
    hasStaged: async (lane) => (await (await linking).staged(lane.task)).patch !== null,
    onProgress: (call, text) => tell("progress", { session, call, text: text.slice(0, 2_000) }),
    onTools: () => tell("toolsChanged", { session }),
    ...{ pause, now: parts.now },
  });
  // Every later request reports why the session did not open.
  calls.catch(() => undefined);

  /** By agent and request: a repeated request returns to the task that waits. */
  const running = new Map<
    string,
    { readonly ids: Set<string>; readonly task: Promise<RunningHostTask> }
  >();
  const begin = async (asked: ServeTask): Promise<RunningHostTask> => {
    const agent = asked.agent ?? only;
    if (agent !== undefined && !names.includes(agent)) {
      throw new Fault("notFound", "Cannot run the task: there is no such agent for this host");
    }
    const { setting: chosen, kernel: own } = await parts.settle(agent);
    try {
      const task = await createHostTask(own, chosen, host, {
        request: asked.request,
        interactive: false,
      });
      const onProgress = (text: string): void =>
        tell("progress", { session, call: asked.call, text: text.slice(0, 2_000) });
      return await followHostTask({ link: own, task, telling, onProgress, pause });
    } catch (error) {
      own.close();
      throw error;
    }
  };
  const info: ServeSession = {
    ...{ session, profile, agents: names, selfConsent: telling.selfConsent },
    wiki: setting.memory !== undefined,
    prompts: [...promptsOf({ wiki: setting.memory !== undefined, agents })],
  };
  return Object.freeze<MediatedSession>({
    info: toJson(info),
    tools: async () => await (await calls).tools(),
    call: async (asked) => await (await calls).call(asked),
    answer: async (said) => await (await calls).answer(said),
    async task(asked): ReturnType<MediatedSession["task"]> {
      const key = JSON.stringify([asked.agent ?? null, asked.request]);
      const found = running.get(key);
      if (found === undefined && running.size >= MAX_RUNNING) {
        throw new Fault(
          "rateLimited",
          `Cannot run the task: ${MAX_RUNNING} of this session are not over`,
        );
      }
      const flight = found ?? { ids: new Set(), task: begin(asked) };
      running.set(key, flight);
      flight.ids.add(asked.call);
      let over = true;
      try {
        const result = await (await flight.task).result(asked.waitMs);
        over = result.waiting === undefined;
        return result;
      } finally {
        if (over) {
          running.delete(key);
          flight.task.then((task) => task.close(), () => undefined);
        }
      }
    },
    async cancel(call): Promise<void> {
      const flight = [...running.values()].find(({ ids }) => ids.has(call));
      await (flight === undefined ? (await calls).cancel(call) : (await flight.task).cancel());
    },
    async close(): Promise<void> {
      const tasks = [...running.values()];
      running.clear();
      await Promise.allSettled(tasks.map(async (each) => {
        const task = await each.task;
        await task.cancel();
        task.close();
      }));
      await (await calls).close();
    },
  });
}
