/** Starts one task on a kernel and follows it to its end. @module */
import { mixColour, SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, type Json, toJson } from "../../contracts/base/mod.ts";
import { PLANNED_PROGRAM } from "../../contracts/exchange/planned.ts";
import { AgentTask, TaskRequest } from "../../contracts/task/mod.ts";
import { makeAnswerer } from "../question/answerer.ts";
import { changedFiles, type RunResult } from "./closing.ts";
import { type Command, ingressOf, recordOf } from "../command.ts";
import { readSeen, type Seen } from "../audit/event_fields.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { makeCallJoin } from "../audit/join_calls.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { type LiveView, makeLiveView } from "./live_view.ts";
import { noteSuspension } from "../mcp/events.ts";
import { startRecording } from "../model/recording/recording.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { RunSetting } from "./run_setting.ts";
import { openFirstWords } from "../terminal/explain.ts";
import { safeJson } from "../terminal/safe_json.ts";
import { makeStreamLines, startLine, type StreamLine } from "./stream_json.ts";
import { makeTally, type Tally } from "./tally.ts";
import { agentsBelow } from "./agent_choice.ts";
import { makeTracer } from "../audit/trace.ts";
import { askStaged, type Watch, type WatchEnd, watchTask } from "./watch_task.ts";

/** A task that this command follows. */
export interface RunningTask {
  readonly id: TaskId;
  readonly tally: Tally;
  readonly watch: Watch;
  /** See {@link LiveView.idle}. */
  readonly idle: LiveView["idle"];
  /** See {@link LiveView.shown}. */
  readonly shown: LiveView["shown"];
  /** Prints a line of the JSON stream; absent without --output-format stream-json. */
  readonly print?: (line: StreamLine) => void;
}

/** Starts a task on the kernel. */
export async function createTask(
  command: Command<Basic | "keyboard">,
  link: KernelLink,
  setting: RunSetting,
  request: {
    readonly text: string;
    readonly interactive: boolean;
    readonly plan: boolean;
    /** The model writes one program, which makes the calls. */
    readonly planned?: boolean;
    /** Any kernel of the fleet may take it. */
    readonly anywhere?: boolean;
    /** The model first describes the task. */
    readonly intake?: boolean;
    /** The model explains each question: why the call is needed. */
    readonly reasons?: boolean;
    /** The text includes content that the person did not write: a file, a command's output. */
    readonly attached?: boolean;
    /** Absent: a new session. */
    readonly session?: SessionId;
  },
): Promise<TaskId> {
  const { environment } = command.powers;
  const ingress = ingressOf(command, setting.profile);
  const asked: TaskRequest = TaskRequest.parse({
    request: request.text,
    session: request.session ?? SessionId.parse(environment.id("s")),
    ingress: {
      ...ingress,
      colour: request.attached === true ? mixColour(ingress.colour, "YELLOW") : ingress.colour,
    },
    profile: setting.profile,
    mounts: setting.mounts,
    folder: setting.folder,
    model: setting.model,
    limits: setting.limits,
    ...(setting.agent === undefined ? {} : { agent: setting.agent }),
    ...(request.planned === true ? { program: PLANNED_PROGRAM } : {}),
    ...(setting.memory === undefined ? {} : { memory: setting.memory }),
    ...(setting.wikis.length === 0 ? {} : { wikis: setting.wikis }),
    ...reachFields(setting),
    ...(setting.instructions.length === 0 ? {} : { instructions: setting.instructions }),
    // Prepared answers come from this process, so the kernel must wait for them.
    onQuestion: request.anywhere === true
      ? "queue"
      : setting.prepared === undefined
      ? setting.onQuestion
      : "ask",
    phase: request.plan ? "plan" : "work",
    interactive: request.interactive,
    ...(request.intake === true ? { intake: true } : {}),
    ...(request.reasons === true ? { reasons: true } : {}),
  });
  const answer =
    await (request.anywhere === true
      ? link.ask("fleet", { kind: "run", request: toJson(asked) })
      : link.ask("run", toJson(asked)));
  return TaskId.parse((answer as { readonly task?: unknown } | null)?.task);
}

/** The optional fields of a request: imported servers, other agents, offered tools, guards. */
export function reachFields(
  { mcp, config, agent, offer, guards }: Pick<
    RunSetting,
    "mcp" | "config" | "agent" | "offer" | "guards"
  >,
): Partial<Pick<TaskRequest, "mcp" | "mcpSearchAbove" | "agents" | "offer" | "guards">> {
  const { searchAbove } = config.mcp;
  const agents = agentsBelow(config.agents, agent);
  return {
    ...(mcp.length === 0 ? {} : { mcp: [...mcp] }),
    ...(mcp.length === 0 || searchAbove === undefined ? {} : { mcpSearchAbove: searchAbove }),
    ...(agents.length === 0 ? {} : { agents: [...agents] }),
    ...(offer.length === 0 ? {} : { offer }),
    ...(guards.length === 0 ? {} : { guards: [...guards] }),
  };
}

/** Follows a task: shows it, counts and traces its events, and answers its questions. */
export async function followTask(
  command: Command<Basic | "keyboard" | "mcpStore">,
  link: KernelLink,
  task: TaskId,
  options: {
    readonly setting?:
      & Pick<RunSetting, "onQuestion" | "prepared" | "trace">
      & Partial<Pick<RunSetting, "record" | "model">>;
    /** Also receives everything that is seen. */
    readonly onSeen?: (seen: Seen) => void;
    /** The events already in the task's log: counted, not shown. */
    readonly past?: readonly Json[];
    readonly budget: number;
    readonly quiet?: boolean;
    /** Shows answers at a terminal while they are written. */
    readonly answers?: boolean;
    /** Prints everything seen as JSON lines. */
    readonly stream?: boolean;
  },
): Promise<RunningTask> {
  const { powers, places } = command;
  const tally = makeTally();
  const toolOf = (question: string): string =>
    tally.asked.find((each) => each.question === question)?.tool ?? "";
  const answers = options.answers === true && !command.json;
  const words = openFirstWords(command);
  const view = makeLiveView(powers.screen, { toolOf, answers, explain: words.of });
  const tracer = makeTracer(options.budget);
  const print = (line: StreamLine): void => powers.screen.out(`${safeJson(line)}\n`);
  const lines = options.stream === true ? makeStreamLines(makeTracer(options.budget)) : undefined;
  if (lines !== undefined) print(startLine(task, options.setting?.model?.ref ?? ""));
  const join = makeCallJoin();
  for (const told of options.past ?? []) {
    const seen = readSeen(told);
    if (seen?.kind === "event") tally.take(join(seen.event));
  }
  const trace = options.setting?.trace === undefined
    ? undefined
    : absolute(powers.environment, options.setting.trace);
  if (trace !== undefined) powers.disk.clear(trace);
  const { record: recording, model } = options.setting ?? {};
  const record = recording === undefined || model === undefined
    ? undefined
    : startRecording(powers.disk, recording, model);
  const quiet = options.quiet ?? (command.json && powers.keyboard === undefined);
  const watch = await watchTask(link, task, {
    from: options.past?.length ?? 0,
    answerer: makeAnswerer({
      powers,
      ring: openKeyRing(powers.disk, places),
      onQuestion: options.setting?.onQuestion ??
        (powers.keyboard === undefined ? "queue" : "ask"),
      prepared: options.setting?.prepared,
      followed: options.setting === undefined,
      request: async () => {
        const { request, ingress } = AgentTask.parse(await link.ask("task", { task }));
        // Content from outside is not the person's words, even where the person started the task.
        return ingress.colour === "BLUE" ? request : undefined;
      },
    }),
    onSeen(seen): void {
      options.onSeen?.(seen);
      if (seen.kind === "wire") {
        record?.(seen.text);
        return;
      }
      if (seen.kind !== "event") {
        lines?.(seen).forEach(print);
        if (!quiet) view.take(seen);
        return;
      }
      const event = join(seen.event);
      lines?.({ kind: "event", event }).forEach(print);
      noteSuspension(command, event);
      if (!quiet) view.take({ kind: "event", event });
      tally.take(event);
      if (trace === undefined) return;
      const traced = tracer(event).map((line) => `${safeJson(line)}\n`).join("");
      if (traced !== "") powers.disk.append(trace, traced);
    },
  });
  return {
    id: task,
    tally,
    watch,
    idle: view.idle,
    shown: view.shown,
    ...(lines === undefined ? {} : { print }),
  };
}

/** Reads the events in a task's log. */
export async function readPast(link: KernelLink, task: TaskId): Promise<readonly Json[]> {
  const past: Json[] = [];
  for (;;) {
    const page = await link.ask("log", { task, from: past.length });
    if (!Array.isArray(page) || page.length === 0) return past;
    past.push(...page);
  }
}

/** Waits for the end. Ctrl-C once cancels the current turn; twice, or SIGTERM, ends the task. */
export async function awaitEnd(
  command: Command<Basic | "interrupts">,
  link: KernelLink,
  running: RunningTask,
): Promise<WatchEnd> {
  const { powers } = command;
  let interrupted = false;
  const twice = Promise.withResolvers<WatchEnd>();
  const stop = powers.interrupts.listen((count, signal) => {
    running.watch.withdraw();
    const second = count > 1;
    if (!second) {
      powers.screen.say(
        powers.screen.paint.dim("  interrupted; press Ctrl-C again to end the task"),
      );
    }
    const told = link.ask("interrupt", {
      ...{ task: running.id, second },
      ...(signal === undefined ? {} : { signal }),
    });
    const end = (): void => {
      if (second) twice.resolve({ status: "cancelled", exit: EXIT.interrupted });
    };
    told.then(end, end);
    interrupted ||= second;
  });
  try {
    const end = await Promise.race([running.watch.next(), twice.promise]);
    return interrupted ? { ...end, exit: EXIT.interrupted } : end;
  } finally {
    stop();
  }
}

/** The exit code of an ended watch. */
function exitOf(end: WatchEnd, task: AgentTask): number {
  if (end.exit !== undefined) return end.exit;
  if (end.failed !== undefined) return end.failed.exit;
  if (end.waiting !== undefined || task.status === "needsApproval") return EXIT.waiting;
  if (task.exit !== undefined) return task.exit;
  return task.status === "failed" ? EXIT.failure : EXIT.success;
}

/** Collects a run's result: the task, its changes, its receipts, the head to keep. */
export async function gather(link: KernelLink, task: TaskId, end: WatchEnd): Promise<RunResult> {
  const state = AgentTask.parse(await link.ask("task", { task }));
  const staged = await askStaged(link, task);
  const receipts = await link.ask("receipts", { task });
  // The head is read, not verified: the kernel verifies new events, and "audit verify" verifies all.
  const { head } = recordOf(await link.ask("head", null));
  return {
    task: state,
    exit: exitOf(end, state),
    changes: changedFiles(staged),
    receipts: Array.isArray(receipts) ? receipts : [],
    head: typeof head === "string" ? head : link.head,
  };
}
