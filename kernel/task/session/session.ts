/**
 * A worker's session: its c-list, its conversation, its turns. A worker's requests are checked
 * (worker_requests.ts) and go to the gate or the model; nothing that a worker sends acts by itself.
 * @module
 */
import { defined } from "../../core/process/defined.ts";
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

/** The process, its worker pool, gate, log and model, and the listeners of a session. */
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
  /** Asks the model for the reason of a call, outside the conversation; absent: no reasons are wanted. */
  readonly reasoning?: InferAside;
  /** Called with the model's text while it is decoded, for the live view. */
  onText(text: string): void;
  /** Called while a local model reads its request, for the live view. */
  onReading(reading: Reading): void;
  /** Called with the number of characters that the model thought, never with the text. */
  onThinking?(characters: number): void;
  onWire(exchange: string): void;
}

/** A process's worker and conversation. */
export interface Session {
  /** Runs one turn. A worker that dies ends the turn as `upstream`. */
  turn(message: ChatMessage | undefined): Promise<SessionTurn>;
  /**
   * One inference by the kernel itself, without tools, before a worker has the conversation, which
   * `append` and the answer join. Rejects like the worker's inferences.
   */
  consult(
    append: readonly ChatMessage[],
    options: {
      readonly step: NonNullable<InferBody["step"]>;
      readonly schema: string;
      readonly maxTokens: number;
    },
  ): Promise<ChatMessage>;
  /** Cancels the running inference and calls. */
  interrupt(): void;
  /** Cancels the running inference, if any. */
  stopInferring(): void;
  /** Ends the turn after a question of this process was queued; the task waits for the answer. */
  park(fault: Fault): void;
  /** Passes a signal to the worker. */
  tell(signal: Signal): void;
  /** SIGSTOP: holds the worker's requests and their answers back. */
  hold(): void;
  release(): void;
  /** The process's tools changed: tells the worker to ask for them again. */
  capsChanged(): void;
  osPid(): number | undefined;
  /** The model's reason for a call; undefined where none is wanted or none fits. */
  readonly reasonFor: ReasonFor;
  end(): Promise<void>;
}

/** Makes a session. The worker is taken from the pool at the first turn. */
export function makeSession(parts: SessionParts): Session {
  const { row, powers } = parts;
  // Handles are drawn at random, so that a worker cannot guess one that it does not hold.
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

  /** Ends the turn where a question was queued, and the process where the store failed. */
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

  /** Takes a worker and starts its program; `ready` rejects where the program does not load. */
  const begin = async (): Promise<{ readonly worker: Child; readonly ready: Promise<Json> }> => {
    const taken = await parts.children.worker({
      ask: requests.serve,
      tell: (op) => {
        if (op === "heard") return interrupt.acknowledged();
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
      ...defined({ program: parts.program, answerSchema: parts.answerSchema }),
      ...(parts.instructions === undefined ? {} : { instructions: toJson(parts.instructions) }),
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
      let healthFailure: string | undefined;
      let unwatch = (): void => {};
      try {
        const { worker, ready } = child === undefined
          ? await begin()
          : { worker: child, ready: undefined };
        unwatch = watchHealth(
          { powers, check: parts.healthcheck, worker },
          (why) => healthFailure = why,
        );
        const turn = worker.port.ask("turn", {
          ...(message === undefined ? {} : { message: asJson(message) }),
          ...(isForeignProgram(parts.program) ? {} : { tools: advertise() }),
        });
        interrupt.turnSent(worker.port);
        // `ready` first, so that a program that does not load is reported as such.
        const ended = Promise.all([ready, turn]).then(([, end]) => heardTurnEnd(end, conversation));
        return await Promise.race([ended, waiting]);
      } catch (error) {
        if (broken !== undefined) throw broken;
        if (!(error instanceof Fault)) throw error;
        if (error.code === "needsApproval") return await waiting;
        if (error.code !== "gone" && error.code !== "badFrame" && error.code !== "tooLarge") {
          throw error;
        }
        return {
          stop: "upstream",
          text: healthFailure ?? await exitReason(child, error),
          died: true,
        };
      } finally {
        unwatch();
        parked = undefined;
        interrupt.turnOver();
        // Cancel anything the turn left pending; nobody waits for it.
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
 * Wraps inferences: before each, a due switch is made and `switched` draws a new handle for the
 * worker; after each, the escalation rule sees the proposed calls.
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

/** A process's powers over its children. */
export interface Offspring {
  /**
   * Starts a child. `agent`: the agent that it runs as; `capabilities` replaces `tools`; with
   * `stays` the child waits for another message after its answer.
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
   * Like {@link Offspring.wait}, or undefined after `ms` milliseconds. `closed`: the caller reads
   * only a choice of its own from the answer, so the child's colour does not taint the parent.
   */
  answerWithin(
    pid: number,
    options: { readonly ms: number; readonly closed: boolean },
  ): Promise<{ readonly exit: number; readonly text: string } | undefined>;
  /** The row of a child. @throws Fault `refused` for other processes */
  rowOf(pid: number): ProcessRow;
  /** Sends a child another message, after its current turn. @throws Fault `gone` when it has ended */
  say(pid: number, text: string): Promise<void>;
  kill(pid: number, signal: Signal): Promise<void>;
}
