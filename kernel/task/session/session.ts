/**
 * A worker's session: its c-list, its conversation, its turns. What a worker says is checked
 * (worker_requests.ts) and goes to the gate or the model; nothing it says acts by itself.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { QuestionId } from "../../../contracts/authority/ids.ts";
import { isForeignProgram } from "../../../contracts/exchange/lal.ts";
import type { AgentSpec, CapabilityGrant } from "../../../contracts/policy/agent_spec.ts";
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import type { Gate } from "../../../contracts/authority/gate.ts";
import { type Json, toJson } from "../../../contracts/base/json.ts";
import type { Reading } from "../../../contracts/model/model.ts";
import type { Powers, ProcessRow } from "../../../contracts/task/process.ts";
import type { Signal } from "../../../contracts/task/signal.ts";
import type { EventLog } from "../../../contracts/task/store.ts";
import type { TurnEnd } from "../../../contracts/wire/wire_worker.ts";
import { asJson } from "../../../port/as_json.ts";
import type { Child, Children } from "../../core/child/children.ts";
import type { ProcessTable } from "../../core/process/table.ts";
import {
  drawCaps,
  heardTurnEnd,
  redrawModel,
  withoutEchoes,
  type WorkerRequest,
} from "../worker/worker_ops.ts";
import { makeInterrupt, makePause, type Pause, watchHealth } from "../worker/interrupt.ts";
import { type InferBody, type Inference, type InferenceParts, makeInference } from "./inference.ts";
import type { InferAside } from "../../power/model/governed_model.ts";
import type { ProcessModel } from "./process_model.ts";
import { makeReasonFor, type ReasonFor } from "./reasons.ts";
import { makeSessionCalls } from "./session_calls.ts";
import { makeWorkerRequests } from "./worker_requests.ts";

/** How a turn ended, seen from the kernel. */
export type SessionTurn =
  | (TurnEnd & { readonly died?: true })
  | { readonly stop: "waiting"; readonly question: QuestionId; readonly text: string };

/** What {@link makeSession} is handed. */
export interface SessionParts extends
  Pick<
    InferenceParts,
    "brake" | "money" | "paid" | "exhausted" | "summarizer" | "contextChanges" | "offer"
  > {
  readonly row: ProcessRow;
  readonly children: Pick<Children, "worker">;
  readonly processes: ProcessTable;
  readonly gate: Gate;
  readonly log: EventLog;
  readonly powers: Powers;
  readonly model: ProcessModel;
  /** The conversation so far; the session keeps its own copy. */
  readonly conversation: readonly ChatMessage[];
  readonly program?: string;
  readonly instructions?: readonly string[];
  readonly answerSchema?: string;
  readonly healthcheck?: AgentSpec["healthcheck"];
  readonly offspring: Offspring;
  /** Asks the model beside the conversation for the reasons of a question; absent: nobody wants them. */
  readonly reasoning?: InferAside;
  /** Text of the model while it is decoded, for the live view. */
  onText(text: string): void;
  /** A model of this machine reads its request, for the live view. */
  onReading(reading: Reading): void;
  /** The model thinks: characters, never which. */
  onThinking?(characters: number): void;
  onWire(exchange: string): void;
}

/** A worker under way. */
export interface Session {
  /** Runs one turn. A worker that dies ends the turn as `upstream`. */
  turn(message: ChatMessage | undefined): Promise<SessionTurn>;
  /**
   * One inference of the kernel's own, without tools, before a worker has the conversation: `append` and the answer are
   * part of it. Rejects as the worker's inferences do.
   */
  consult(
    append: readonly ChatMessage[],
    options: {
      readonly step: NonNullable<InferBody["step"]>;
      readonly schema: string;
      readonly maxTokens: number;
    },
  ): Promise<ChatMessage>;
  /** Cancels the inference or calls under way. */
  interrupt(): void;
  /** Cancels the inference under way, if there is one. */
  stopInferring(): void;
  /** A question of this process was queued: its turn ends, and waits for the answer. */
  park(fault: Fault): void;
  /** Tells the worker of a signal. */
  tell(signal: Signal): void;
  /** SIGSTOP: keeps back what the worker asks and what it is owed. */
  hold(): void;
  release(): void;
  /** The process's tools changed: tell the worker to look again. */
  capsChanged(): void;
  osPid(): number | undefined;
  /** Why a call is needed, in the model's words; undefined where nobody wants that, or nothing fits. */
  readonly reasonFor: ReasonFor;
  end(): Promise<void>;
}

/** Makes a session. The worker is taken from the pool at the first turn. */
export function makeSession(parts: SessionParts): Session {
  const { row, powers } = parts;
  // Handles are drawn at random, so that a worker cannot guess one it was not handed.
  let caps = drawCaps(powers);
  const conversation: ChatMessage[] = [...parts.conversation];
  const pause: Pause = makePause();
  let child: Child | undefined;
  let ended = false;
  let parked: ((question: QuestionId) => void) | undefined;
  let broken: Fault | undefined;
  let consulting: AbortController | undefined;
  const interrupt = makeInterrupt();

  const inference = makeInference({
    ...parts,
    model: parts.model.model,
    modelRefused: parts.model.refused,
    conversation,
    fail: (fault) => {
      broken ??= fault;
      void child?.kill();
    },
    toWorker: (op, body) => child?.port.tell(op, body),
    listens: isForeignProgram(parts.program),
  });

  const park = (fault: Fault): void => {
    const question = QuestionId.safeParse(fault.detail?.["question"]);
    if (question.success) parked?.(question.data);
  };

  /** A question that was queued ends the turn; a store that failed ends the process. */
  const noticing = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.code === "needsApproval") park(error);
      else if (error.code === "storeFull" || error.code === "storeCorrupt") {
        broken ??= error;
        void child?.kill();
      }
      throw error;
    }
  };

  const window = (): number =>
    Math.min(row.limits.contextWindow, parts.model.model.info.contextTokens);
  const infer = switchingInference(inference.infer, parts.model, () => {
    caps = redrawModel(powers, caps);
    child?.port.tell("modelChanged", { model: caps.model, contextWindow: window() });
  });

  const advertise = (): Json =>
    asJson({
      ...parts.gate.advertise(row.pid),
      ...(parts.offer?.only === undefined ? { tools: inference.offered().tools } : {}),
    });

  const requests = makeWorkerRequests({
    caps: () => caps,
    ...{ pause, interrupt, infer, advertise, noticing },
    makeRoom: inference.makeRoom,
    calls: makeSessionCalls({
      ...parts,
      proposed: (id) =>
        conversation.findLast(({ role }) => role === "assistant")?.toolCalls
          ?.find((call) => call.id === id),
    }),
    offspring: parts.offspring,
  });

  /** `ready` rejects where its program does not load. */
  const begin = async (): Promise<{ readonly worker: Child; readonly ready: Promise<Json> }> => {
    const taken = await parts.children.worker({
      ask: requests.serve,
      tell: (op) => {
        if (op === "heard") return interrupt.heard();
        throw new Fault(
          "badFrame",
          `Cannot serve a worker: it told ${JSON.stringify(op.slice(0, 64))}`,
        );
      },
    });
    if (ended) {
      await taken.kill();
      throw new Fault("gone", "Cannot start a worker: its process has ended");
    }
    child = taken;
    const ready = taken.port.ask("start", {
      caps: toJson(caps),
      limits: toJson({ ...row.limits, contextWindow: window() }),
      conversation: asJson(conversation.map(withoutEchoes)),
      ...(parts.program === undefined ? {} : { program: parts.program }),
      ...(parts.instructions === undefined ? {} : { instructions: toJson(parts.instructions) }),
      ...(parts.answerSchema === undefined ? {} : { answerSchema: parts.answerSchema }),
    });
    return { worker: taken, ready };
  };

  return Object.freeze({
    async turn(message: ChatMessage | undefined): Promise<SessionTurn> {
      if (ended) throw new Fault("gone", `Cannot run a turn of process ${row.pid}: it has ended`);
      const waiting = new Promise<SessionTurn>((resolve) => {
        parked = (question) => resolve({ stop: "waiting", question, text: "" });
      });
      interrupt.turnBegins();
      let illness: string | undefined;
      let unwatch = (): void => {};
      try {
        const { worker, ready } = child === undefined
          ? await begin()
          : { worker: child, ready: undefined };
        unwatch = watchHealth({ powers, check: parts.healthcheck, worker }, (why) => illness = why);
        const turn = worker.port.ask("turn", {
          ...(message === undefined ? {} : { message: asJson(message) }),
          ...(isForeignProgram(parts.program) ? {} : { tools: advertise() }),
        });
        interrupt.turnSent(worker.port);
        // In this order: a program that does not load is told of as that.
        const ended = Promise.all([ready, turn]).then(([, end]) => heardTurnEnd(end, conversation));
        return await Promise.race([ended, waiting]);
      } catch (error) {
        if (broken !== undefined) throw broken;
        if (!(error instanceof Fault)) throw error;
        if (error.code === "needsApproval") return await waiting;
        if (error.code !== "gone" && error.code !== "badFrame" && error.code !== "tooLarge") {
          throw error;
        }
        return { stop: "upstream", text: illness ?? await exitReason(child, error), died: true };
      } finally {
        unwatch();
        parked = undefined;
        interrupt.turnOver();
        // What a turn left under way is for nobody: its question would be answered to the dead.
        requests.withdraw();
      }
    },
    async consult(
      append: Parameters<Session["consult"]>[0],
      { step, schema, maxTokens }: Parameters<Session["consult"]>[1],
    ): Promise<ChatMessage> {
      if (child !== undefined) {
        throw new TypeError("Cannot consult the model: a worker has the conversation");
      }
      await pause.passed();
      if (ended) throw new Fault("gone", `Cannot infer for process ${row.pid}: it has ended`);
      consulting = new AbortController();
      const base = conversation.length;
      const body = { cap: 0, base, append: [...append], maxTokens, responseSchema: schema, step };
      try {
        return (await infer(body, consulting.signal)).message;
      } catch (error) {
        throw broken ?? error;
      } finally {
        consulting = undefined;
      }
    },
    interrupt(): void {
      consulting?.abort();
      interrupt.press();
      requests.withdraw();
    },
    stopInferring(): void {
      consulting?.abort();
      requests.stopInferring();
    },
    park,
    tell: (signal: Signal) => child?.port.tell("signal", { signal }),
    hold: () => pause.close(),
    release: () => pause.open(),
    capsChanged(): void {
      child?.port.tell("capsChanged", null);
    },
    osPid: () => child?.osPid,
    reasonFor: parts.reasoning === undefined
      ? () => Promise.resolve(undefined)
      : makeReasonFor({ row, conversation, infer: parts.reasoning }),
    async end(): Promise<void> {
      ended = true;
      consulting?.abort();
      parts.model.release();
      pause.open();
      requests.withdraw();
      await child?.kill();
    },
  });
}

async function exitReason(child: Child | undefined, error: Fault): Promise<string> {
  if (child === undefined || error.code !== "gone") return error.message;
  return `the worker ${await child.end()}`;
}

/**
 * The same inferences: before each, a switch that is due is made, and `switched` called, which draws
 * the worker another handle; after each, the model's rule hears what it proposed.
 */
function switchingInference(
  infer: Inference["infer"],
  model: Pick<ProcessModel, "switchIfDue" | "proposed" | "failed">,
  switched: () => void,
): Inference["infer"] {
  return async (body, signal) => {
    if (await model.switchIfDue()) switched();
    try {
      const response = await infer(body, signal);
      model.proposed(response.message.toolCalls ?? []);
      return response;
    } catch (error) {
      if (error instanceof Fault) model.failed(error.code);
      throw error;
    }
  };
}

/** Children of a process, as its session reaches them. */
export interface Offspring {
  /**
   * Starts a child. `agent`: what it runs as; `capabilities` stand in place of `tools`; one that `stays` waits for
   * more to do once it has answered.
   */
  spawn(
    request: Omit<Extract<WorkerRequest, { op: "spawn" }>["body"], "cap"> & {
      readonly agent?: AgentSpec;
      readonly capabilities?: readonly CapabilityGrant[];
      readonly mounts?: readonly string[];
      readonly stays?: boolean;
    },
  ): Promise<number>;
  wait(pid: number): Promise<{ readonly exit: number; readonly text: string }>;
  /**
   * What {@link Offspring.wait} gives, or undefined when it did not come within `ms` milliseconds. `closed`: only a
   * word of the parent's own choice is read of it, so that its colour does not fall on the parent.
   */
  answerWithin(
    pid: number,
    options: { readonly ms: number; readonly closed: boolean },
  ): Promise<{ readonly exit: number; readonly text: string } | undefined>;
  /** Of a child. @throws Fault `refused` for a process that is none */
  rowOf(pid: number): ProcessRow;
  /** Gives a child more to do, after what it is at. @throws Fault `gone` when it has ended */
  say(pid: number, text: string): Promise<void>;
  kill(pid: number, signal: Signal): Promise<void>;
}
