/** Opens the sessions of hosts: their tasks, their answers, what they are told. @module */
import * as z from "zod";
import {
  type AgentSpec,
  type Colour,
  Fault,
  type Ingress,
  type Json,
  type Label,
  type Limits,
  type Profile,
  Question,
  type QuestionId,
  type ServeHolder,
  ServePrompt,
  type ServeSession,
  type ServeTask,
  SessionId,
  TaskId,
  TaskRequest,
  toJson,
  ToolDescriptor,
} from "../../contracts/mod.ts";
import { type Command, commandText } from "../command.ts";
import type { KernelLink } from "../hands.ts";
import { type RunSetting, settle } from "../run/run_setting.ts";
import { CALLER_PROGRAM, type Lane, openLane } from "./lane.ts";
import {
  followHostTask,
  HOST_SINK,
  mayConsent,
  type RunningHostTask,
  tellingOf,
  type TellingParts,
} from "./result.ts";
import { shownChanges } from "../question/asking.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { openKeyRing } from "../key/ring.ts";
import type { MediatedSession } from "./mediator.ts";
import { openHostSession } from "./session.ts";
import { signAnswer } from "../question/sign_answer.ts";
import { askStaged } from "../run/watch_task.ts";

// Prompts that hosts may show: a few common tasks, and one for each agent of remit.yaml.

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

/** The prompts of a session. */
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

// What the sessions of hosts are made of: once for a command, from flags and remit.yaml.

/** Limits of a session's task where nothing else limits it: it lives as long as its host. */
const SESSION_LIMITS: Partial<Limits> = {
  wallClockMs: 12 * 60 * 60_000,
  toolCalls: 5_000,
  questions: 500,
  resultBytes: 512_000_000,
};

/** The play of a model that is never asked: the caller program infers nothing. */
const NO_PLAY = JSON.stringify({
  scenario: "a host's session",
  turns: [{ say: "Nothing is asked here." }],
});

/** A host, as the kernel knows it. */
export interface HostName {
  readonly profile: Profile;
  /** The one at this very terminal, over a pipe: not worse than YELLOW. */
  readonly own: boolean;
  /** Its token, or what it calls itself. */
  readonly principal: string;
  readonly session: SessionId;
}

/** Settles what calls are made with. */
export async function settleCalls(command: Command): Promise<RunSetting> {
  return await settle(command, { folder: command.hands.around.cwd, mounts: [], play: NO_PLAY });
}

/** The most confidential text that hosts are told. */
function hostClearance({ config }: Pick<RunSetting, "config">): Label {
  return config.policy.clearance[HOST_SINK] ?? "internal";
}

/** What a host's words are worth. */
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

/** Asks the kernel for a task of a host. Only a session's own tasks run the caller program. */
async function createHostTask(
  link: KernelLink,
  setting: RunSetting,
  host: HostName,
  asked: { readonly request: string; readonly interactive: boolean },
): Promise<TaskId> {
  const { memory, wikis, mounts, agent, profile: _operators, limits } = setting;
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
    ...("mcp" in setting ? { mcp: setting.mcp } : {}),
    onQuestion: "queue",
    phase: "work",
    interactive: asked.interactive,
    // A turn is one call: the host says when its changes are to be reviewed, as an agent does.
    ...(asked.interactive ? { program: CALLER_PROGRAM, review: "asked" } : {}),
  });
  const answer = await link.ask("run", toJson(request));
  return TaskId.parse((answer as { readonly task?: unknown } | null)?.task);
}

const ORDER: readonly Label[] = ["public", "internal", "secret"];

function lower(a: Label, b: Label): Label {
  return ORDER.indexOf(a) <= ORDER.indexOf(b) ? a : b;
}

/** Tasks of `run_task` that one session may have at a time. */
const MOST_RUNNING = 4;

/** What sessions are opened with. */
export interface HostParts {
  readonly command: Command;
  /** What calls are made with. */
  readonly setting: RunSetting;
  /** A session with the kernel, for questions. It may take a while: programs are built once for a version. */
  readonly link: Promise<KernelLink>;
  /** Over a pipe, at this terminal. */
  readonly own: boolean;
  /** Tells the gateway. */
  tell(op: "progress" | "toolsChanged", body: Json): void;
}

/** Opens a host's session. What it is is told at once; its first task stands when the kernel does. */
export function openHost(
  { command, setting, link: linking, own, tell }: HostParts,
  session: string,
  { holder, profile }: ServeHolder,
): MediatedSession {
  const { hands, places } = command;
  const host: HostName = {
    ...{ profile, own, principal: holder },
    session: SessionId.parse(hands.around.id("s")),
  };
  const { policy, agents } = setting.config;
  const only = setting.agent?.name;
  const names = Object.keys(agents).filter((name) => only === undefined || name === only).sort();
  const telling: Omit<TellingParts, "task"> = {
    clearance: hostClearance(setting),
    disk: hands.disk,
    // Nobody knows who an anonymous host's person is: what they say is nobody's word.
    selfConsent: policy.selfConsent && profile !== "anonymous",
    where: (question) =>
      `${commandText(command, "questions")}\n${commandText(command, `answer ${question} allow`)}`,
  };
  const pause = hands.serve.pause;

  const answerFor = async (lane: Lane, id: QuestionId, allow: boolean): Promise<void> => {
    const link = await linking;
    const question = Question.parse(await link.ask("question", { question: id }));
    // TRUST: only what this session's own task asked, and only consent.
    if (question.task !== lane.task || !mayConsent(question, telling)) {
      throw new Fault("refused", `Cannot answer question ${id}: a host may not answer it`);
    }
    // Read and hashed before anything is signed.
    shownChanges(question, await askStaged(link, lane.task), hands.disk);
    const verdict = {
      ...{ decision: allow ? "allow" as const : "deny" as const, for: "once" as const },
      ...{ by: `mcp:${holder} (elicitation)`, channel: "command" as const },
    };
    const signer = openKeyRing(hands.disk, places).provideConsent();
    await link.ask(
      "answer",
      toJson(signAnswer(question, verdict, { signer, at: hands.around.now() })),
    );
  };

  const calls = openHostSession({
    async openLane(on): Promise<Lane> {
      await linking;
      const own = await hands.kernels(places).find();
      if (own === undefined) throw new Fault("gone", "Cannot go on: the kernel has ended");
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
    hasStaged: async (lane) => (await askStaged(await linking, lane.task)).patch !== null,
    onProgress: (call, text) => tell("progress", { session, call, text: text.slice(0, 2_000) }),
    onTools: () => tell("toolsChanged", { session }),
    pause,
    now: () => hands.around.now(),
  });
  // Whoever asks for something of it is told why it did not open.
  calls.catch(() => undefined);

  /** By request and agent: the same request again asks for the task that waits. */
  const running = new Map<
    string,
    { readonly ids: Set<string>; readonly task: Promise<RunningHostTask> }
  >();
  const begin = async (asked: ServeTask): Promise<RunningHostTask> => {
    const agent = asked.agent ?? only;
    if (agent !== undefined && !names.includes(agent)) {
      throw new Fault("notFound", "Cannot run the task: there is no such agent for this host");
    }
    const flags = new Map(command.parsed.flags);
    if (agent !== undefined) flags.set("agent", [agent]);
    const chosen = await settle({ ...command, parsed: { ...command.parsed, flags } }, {
      folder: hands.around.cwd,
      mounts: [],
    });
    const own = await kernelFor(command, chosen);
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
      if (found === undefined && running.size >= MOST_RUNNING) {
        throw new Fault(
          "rateLimited",
          `Cannot run the task: ${MOST_RUNNING} of this session are not over`,
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
