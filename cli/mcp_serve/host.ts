/** Opens the sessions of hosts: their tasks, their answers, what they are told. @module */
import {
  Fault,
  type Json,
  Question,
  type QuestionId,
  type ServeHolder,
  type ServeSession,
  type ServeTask,
  SessionId,
  toJson,
  ToolDescriptor,
} from "../../contracts/mod.ts";
import * as z from "zod";
import { shownChanges } from "../question/asking.ts";
import { type Command, commandText } from "../command.ts";
import type { KernelLink } from "../hands.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { openKeyRing } from "../key/ring.ts";
import { type RunSetting, settle } from "../run/run_setting.ts";
import { type Lane, openLane } from "./lane.ts";
import type { MediatedSession } from "./mediator.ts";
import { promptsOf } from "./prompts.ts";
import { mayConsent, tellingOf, type TellingParts } from "./result.ts";
import { followHostTask, type RunningHostTask } from "./run_task.ts";
import { openHostSession } from "./session.ts";
import { createHostTask, hostClearance, type HostName } from "./setting.ts";
import { signAnswer } from "../question/sign_answer.ts";
import { askStaged } from "../run/watch_task.ts";

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
