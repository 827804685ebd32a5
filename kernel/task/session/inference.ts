/**
 * One inference of a process: label and budget judge it (never colour), the model service performs
 * it, the log keeps its new messages.
 * @module
 */
import { defined } from "../../core/process/defined.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import type { NewEvent } from "../../../contracts/task/event.ts";
import type { Gate } from "../../../contracts/authority/gate.ts";
import type { Json } from "../../../contracts/base/json.ts";
import type { InferenceResponse, Reading } from "../../../contracts/model/model.ts";
import type { Powers, ProcessRow } from "../../../contracts/task/process.ts";
import type { EventLog } from "../../../contracts/task/store.ts";
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";
import { asJson } from "../../../port/as_json.ts";
import {
  type HeldRequest,
  inputTokens,
  makeModelCost,
  type ModelCost,
  type ModelMoney,
} from "../../power/model/money.ts";
import { makeAsideInference } from "./aside.ts";
import {
  type ContextChange,
  makeContextChange,
  makeTokenCounts,
  type TokenCounts,
} from "../context/change.ts";
import { CHARS_A_TOKEN, estimateTokens } from "../../../contracts/model/tokens.ts";
import { withoutEchoes, type WorkerRequest } from "../worker/worker_ops.ts";
import {
  type GovernedModel,
  type GovernedOptions,
  makeAnswerTime,
} from "../../power/model/governed_model.ts";
import { settleBroken, settleInference } from "./settle_inference.ts";
import { makeOfferTools, type OfferedTools, type ToolOffer } from "./offered_tools.ts";
import type { ProcessTable } from "../../core/process/table.ts";
import { makeFoundTools } from "./tool_search.ts";

/** Another model that writes summaries. */
export interface Summarizer {
  readonly model: GovernedModel;
  /** Why the process may not use the summarizer now; undefined where it may. */
  modelRefused(row: ProcessRow): string | undefined;
}

/** The parts of one process's inferences. */
export interface InferenceParts {
  readonly row: ProcessRow;
  readonly processes: Pick<ProcessTable, "wouldExceed" | "settle" | "setModel">;
  readonly log: EventLog;
  /** Removes credentials from a model's calls. */
  readonly gate: Pick<Gate, "withhold">;
  readonly powers: Powers;
  readonly model: GovernedModel;
  /** The kernel's copy of the conversation, changed in place. */
  readonly conversation: ChatMessage[];
  /** Why this process may not use its model now; undefined where it may. */
  modelRefused(row: ProcessRow): string | undefined;
  /** Summarizes removed messages; absent: the model itself. */
  readonly summarizer?: Summarizer;
  /** Number of changes of the conversation in the log already. */
  readonly contextChanges?: number;
  /** The task's wishes for the tools offered to its model. */
  readonly offer?: ToolOffer;
  /**
   * Reserves US dollars that a request will probably cost; asks a person when the task spends too
   * fast. Resolves with the function that ends the reservation, or undefined when the request may
   * not be sent. Rejects with `needsApproval`.
   */
  brake(row: ProcessRow, money: number): Promise<(() => void) | undefined>;
  /** Holds the possible cost of running requests. */
  readonly money: ModelMoney;
  /** Books the US dollars of an inference. */
  paid(money: number): void;
  /** Called when an exhausted limit refuses an inference. */
  exhausted(limit: string): void;
  onText(text: string): void;
  /** Called with how far a local model has read its request. */
  onReading(reading: Reading): void;
  onThinking?(characters: number): void;
  /** Called with an exchange with a provider, where the model is recorded. */
  onWire(exchange: string): void;
  toWorker(op: string, body: Json): void;
  /**
   * True where the worker's program receives the answer's chunks while the model writes. Other programs receive the chunks
   * only of a failed inference; of a finished one they get the whole answer.
   */
  readonly listens: boolean;
  /** Called when the log cannot be written: the process must end. */
  fail(fault: Fault): void;
}

/** A request for an inference. `step`: the kernel asks by a template, before the process has a tool. */
export type InferBody = Extract<WorkerRequest, { op: "infer" }>["body"] & {
  readonly step?: "intake";
};

/** Follows the text of a broken answer in live views. */
const GIVEN_UP = "\n[the answer broke off here and is given up]\n";

/** The inferences of one process. */
export interface Inference {
  infer(body: InferBody, signal: AbortSignal): Promise<InferenceResponse>;
  /** The tools of the process's snapshot that are offered to its model. */
  offered(): Pick<OfferedTools, "tools" | "left">;
  /** Makes room in the conversation. */
  readonly makeRoom: ContextChange["makeRoom"];
}

/** Makes the inferences of one process. */
export function makeInference(parts: InferenceParts): Inference {
  const { row, processes, conversation, model, powers } = parts;
  /** SIGCTXPRESSURE is logged, and no room was made since. */
  let pressed = false;

  // The log keeps order, so the next commit makes this event durable before any effect, which saves
  // a commit. Losing the event in a crash only means inferring again.
  const record = (event: NewEvent): void => {
    const append = parts.log.appendWithNext ?? parts.log.append;
    append(row.task, [event]).catch((error: unknown) => {
      parts.fail(
        error instanceof Fault
          ? error
          : new Fault("storeFull", "Cannot log the inference", { cause: error }),
      );
    });
  };

  const window = (): number => Math.min(row.limits.contextWindow, model.info.contextTokens);
  const offer = makeOfferTools(parts.offer);
  const found = makeFoundTools(conversation);
  const offered = (): Partial<OfferedTools> & Pick<OfferedTools, "tools" | "left"> =>
    row.snapshot === undefined
      ? { tools: [], left: 0 }
      : offer(row.snapshot, window(), found.names(), model.info.backend);
  const counts = makeTokenCounts(model);
  const { ratio } = counts;
  const context = contextOf(parts, { window, ratio, tools: () => offered().tools });
  /** Tells the process that its window fills, which the process may ignore. */
  const tellPressure = (input: number, maxTokens: number): void => {
    const pressure = context.pressure(input, maxTokens);
    if (pressure === undefined) {
      pressed = false;
      return;
    }
    parts.toWorker("signal", { signal: "SIGCTXPRESSURE", pressure: asJson(pressure) });
    if (pressed) return;
    pressed = true;
    record({
      kind: "signalled",
      body: { pid: row.pid, signal: "SIGCTXPRESSURE", ...pressure },
    });
  };

  const check = (body: InferBody, cost: ModelCost): number => {
    if (body.base > conversation.length) {
      throw new Fault(
        "invalidInput",
        `Cannot infer: the conversation has ${conversation.length} messages, not ${body.base}`,
      );
    }
    const refused = parts.modelRefused(row);
    if (refused !== undefined) throw new Fault("refused", `Cannot infer: ${refused}`);
    const kept = conversation.slice(0, body.base);
    const estimate = estimateTokens(kept) + estimateTokens(body.append);
    const input = ratio().of(estimate);
    // The learnt ratio is no reason to refuse: the model itself decides.
    if (estimate > window()) {
      throw new Fault(
        "contextOverflow",
        `Cannot infer: about ${input} tokens do not fit the context window`,
      );
    }
    tellPressure(estimate, body.maxTokens);
    checkLimits(input, cost);
    return input;
  };

  const checkLimits = (input: number, cost: ModelCost): void => {
    const over = processes.wouldExceed(row.pid, {
      inputTokens: input,
      iterations: 1,
      money: cost.ofInput(input),
    });
    if (over === undefined) return;
    parts.exhausted(over);
    throw new Fault("budgetExhausted", `Cannot infer: ${over}`);
  };

  const infer = async (asked: InferBody, signal: AbortSignal): Promise<InferenceResponse> => {
    const body = { ...asked, append: asked.append.map(withoutEchoes) };
    const cost = makeModelCost(model.info.price);
    const input = check(body, cost);
    const unreserve = await parts.brake(row, cost.likely(input, body.maxTokens));
    if (unreserve === undefined) {
      const why = "Cannot infer: it spends too fast and nobody let it go on";
      throw new Fault("budgetExhausted", why, { detail: { brake: true } });
    }
    conversation.length = body.base;
    conversation.push(...body.append);
    found.look(body.append);
    const nonce = powers.token();
    const limit = new AbortController();
    const stop = (): void => limit.abort();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    let late = false;
    const said: string[] = [];
    let written = "";
    const { remote } = model.info;
    const ms = row.limits.generationTimeoutMs;
    const time = makeAnswerTime(powers, { ms, window: window(), remote }, () => {
      late = true;
      limit.abort();
    });
    let held: HeldRequest | undefined;
    try {
      const { temperature, seed } = model.plan;
      const request = {
        messages: [...conversation],
        tools: body.step === undefined ? [...offered().tools] : [],
        maxTokens: body.maxTokens,
        ...defined({ temperature, seed, nonce, responseSchema: body.responseSchema }),
      };
      held = await parts.money.hold(row.pid, request, {
        info: model.info,
        input: ratio().of(inputTokens(request)),
        signal: limit.signal,
        recheck: () => checkLimits(input, cost),
      });
      const { request: sent } = held;
      const options: GovernedOptions = {
        onChunk: (chunk) => {
          const { reading } = chunk;
          if (reading !== undefined) {
            if (time.hears(reading)) parts.onReading(reading);
            return;
          }
          const { thought = chunk.rationale?.length } = chunk;
          if (thought !== undefined) parts.onThinking?.(thought);
          if (parts.listens) parts.toWorker("chunk", asJson(chunk));
          else if (chunk.textDelta !== undefined) said.push(chunk.textDelta);
          if (chunk.textDelta === undefined) return;
          written += chunk.textDelta;
          // Text that fills in a template is no answer.
          if (body.step === undefined) parts.onText(chunk.textDelta);
        },
        textOnly: !parts.listens,
        onWire: parts.onWire,
        // The wait for a provider's rate limit does not count as the model's time.
        onEntered: time.start,
        signal: limit.signal,
        table: body.step === undefined ? offered().table : undefined,
      };
      const response = await counts.learning(sent, window(), () => model.infer(sent, options));
      const settled = settleInference(parts, body, response, { nonce, input, cost });
      record(settled.event);
      // INVARIANT: the live process finds what a replay of the conversation finds (test: "a conversation goes on as it was …").
      found.look([settled.response.message]);
      return settled.response;
    } catch (error) {
      for (const textDelta of said) parts.toWorker("chunk", { textDelta });
      if (error instanceof Fault) {
        const usage = usedBy(error, { read: time.read(), written, input, remote, late });
        const lost = settleBroken(parts, usage, { nonce: powers.token(), cost });
        if (lost !== undefined) record(lost);
        if (written !== "" && error.detail?.["broke"] === true) parts.onText(GIVEN_UP);
      }
      if (late) {
        const read = time.read();
        throw tooLate(ms, error, {
          since: read > 0 ? `since it had read ${read} tokens` : undefined,
          // The same request would take as long again. With a silent provider the network may be the cause.
          tried: !remote || written !== "",
        });
      }
      throw error;
    } finally {
      time.stop();
      held?.release();
      unreserve();
      signal.removeEventListener("abort", stop);
    }
  };
  return Object.freeze({ infer, offered, makeRoom: context.makeRoom });
}

/** The usage of an unfinished inference: reported by its service, or estimated from the chunks received. */
function usedBy(
  { detail }: Fault,
  { read, written, input, remote, late }: {
    readonly read: number;
    readonly written: string;
    readonly input: number;
    readonly remote: boolean;
    readonly late: boolean;
  },
): unknown {
  if (detail?.["usage"] !== undefined) return detail["usage"];
  if (remote ? !late || written === "" : read === 0 && written === "") return undefined;
  const outputTokens = Math.ceil(written.length / CHARS_A_TOKEN);
  return { inputTokens: remote || read === 0 ? input : read, outputTokens };
}

function tooLate(
  ms: number,
  cause: unknown,
  { since, tried }: { readonly since: string | undefined; readonly tried: boolean },
): Fault {
  const more = '; "generationTimeoutMs" in the limits of remit.yaml gives it longer';
  const from = since === undefined ? "" : ` ${since}`;
  const message = `Cannot finish the inference: ${ms} ms passed${from}${more}`;
  return new Fault("timedOut", message, { cause, ...(tried ? { detail: { tried } } : {}) });
}

/** Makes the changes of the process's context, with its summarizer. */
function contextOf(
  parts: InferenceParts,
  own: {
    readonly window: () => number;
    readonly ratio: TokenCounts["ratio"];
    readonly tools: () => readonly ToolDescriptor[];
  },
): ContextChange {
  const { row, model, summarizer = { model, modelRefused: parts.modelRefused } } = parts;
  const infer = makeAsideInference({
    ...parts,
    ...summarizer,
    // A summary that exceeds the budget is skipped: the next inference is refused by itself.
    exhausted: () => undefined,
  });
  return makeContextChange({
    ...parts,
    ...own,
    changes: parts.contextChanges ?? 0,
    summarizer: {
      get id() {
        return summarizer.model.info.id;
      },
      get window() {
        return summarizer.model.info.contextTokens;
      },
      infer: (messages, maxTokens, signal) =>
        infer(row, { messages, maxTokens, summary: true }, signal),
    },
  });
}
