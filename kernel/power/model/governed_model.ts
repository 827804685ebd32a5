/**
 * A model as one process may use it: a request that leaves this machine waits for its provider's rate, is judged again after
 * the wait, and is logged before it is sent. Local models are passed through.
 * @module
 */
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import type { NewEvent } from "../../../contracts/task/event.ts";
import { Fault, type FaultCode } from "../../../contracts/base/fault.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import type {
  Embeddings,
  InferenceRequest,
  InferenceResponse,
  ModelInfo,
  Reading,
} from "../../../contracts/model/model.ts";
import type { Powers, ProcessRow } from "../../../contracts/task/process.ts";
import type { EventLog } from "../../../contracts/task/store.ts";
import { CHARS_A_TOKEN } from "../../../contracts/model/tokens.ts";
import { makeModelCost, USUAL_OUTPUT } from "./money.ts";
import type { Entered, ModelRates } from "./rates.ts";
import type { InferOptions, OpenModel } from "./services.ts";

/** A question to the model, outside the conversation. */
export interface Aside {
  readonly prompt: string;
  /** Tokens of the answer, at most. */
  readonly maxTokens: number;
}

/** Asks the model of a process's task. Rejects with `refused`, `contextOverflow`, `budgetExhausted`, `cancelled`, `upstream`. */
export type AskAside = (row: ProcessRow, aside: Aside, signal: AbortSignal) => Promise<string>;

/** One inference outside the conversation. */
export type InferAside = (
  row: ProcessRow,
  aside: {
    readonly messages: readonly ChatMessage[];
    readonly maxTokens: number;
    /** JSON Schema of the answer, for models that support one. */
    readonly responseSchema?: string;
    /** The answer is a summary of removed messages. */
    readonly summary?: boolean;
  },
  signal: AbortSignal,
) => Promise<InferenceResponse>;

/** Counts what a process sends to a model's host. */
export type CountEgress = (
  row: Pick<ProcessRow, "task" | "pid">,
  sends: { readonly bytes: number; readonly host: string },
) => Promise<void>;

/** The process, the pacing and the log of a governed model. */
export interface GovernParts {
  /** The requesting process. For an embedding its label is raised to the texts'. */
  readonly row: Pick<
    ProcessRow,
    "task" | "session" | "principal" | "conversation" | "turn" | "pid" | "label" | "colour"
  >;
  readonly rates: ModelRates;
  readonly log: Pick<EventLog, "append">;
  readonly powers: Pick<Powers, "now" | "token">;
  /** Counts bytes in budgets before they are sent; rejects with `budgetExhausted`. Absent: there are no budgets. */
  readonly egress?: CountEgress | undefined;
  /** Why the process may not use this model now; undefined where it may. */
  modelRefused(): string | undefined;
}

/** Options of a governed inference. */
export interface GovernedOptions extends InferOptions {
  readonly use?: EgressUse;
  /** Called when the wait ends and the time for an answer begins. */
  readonly onEntered?: () => void;
  /** The size of the sent text, where the request does not contain it. */
  readonly size?: EgressSize;
}

/** The time limit of an answer, which restarts whenever a local model has read more of its request. */
interface AnswerTime {
  start(): void;
  /** Takes a progress report; false where the report gives no more time. */
  hears(reading: Reading): boolean;
  /** Tokens that the model has reported as read. */
  read(): number;
  stop(): void;
}

/**
 * Makes the time limit; `late` is called when it is over.
 * TRUST: reports come from the service. Only progress within `window` tokens gives more time.
 */
export function makeAnswerTime(
  { after }: Pick<Powers, "after">,
  { ms, window, remote }: {
    readonly ms: number;
    readonly window: number;
    readonly remote: boolean;
  },
  late: () => void,
): AnswerTime {
  let read = 0;
  let disarm = (): void => undefined;
  const start = (): void => {
    disarm();
    disarm = after(ms, late);
  };
  return Object.freeze<AnswerTime>({
    start,
    hears({ done }) {
      if (remote || done <= read || done > window) return false;
      read = done;
      start();
      return true;
    },
    read: () => read,
    stop: () => disarm(),
  });
}

/** A model of one process. */
export interface GovernedModel extends Pick<OpenModel, "info" | "plan"> {
  /** Like the model's own; also rejects with `rateLimited`, `refused`, `storeFull`. */
  infer(request: InferenceRequest, options: GovernedOptions): Promise<InferenceResponse>;
  /** The caller charges its budget with the cost; the request is logged here. */
  embed(
    texts: readonly string[],
    signal: AbortSignal,
    onEntered?: () => void,
  ): Promise<Embeddings>;
}

interface Leaving<T> {
  readonly use: EgressUse;
  readonly nonce: string;
  /** Costs a walk over the conversation, so it is called only for requests that leave. */
  size(): EgressSize;
  readonly texts: number;
  readonly tools: number;
  /** Tokens of the answer, at most. */
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  readonly onEntered?: (() => void) | undefined;
  send(): Promise<T>;
  used(answer: T): number;
  /** The event of the answer, where no other code logs it. */
  ended?(answer: T): NewEvent;
}

/** Wraps a model with pacing and logging. */
export function governed(model: OpenModel, parts: GovernParts): GovernedModel {
  const { row, powers } = parts;
  const { info, plan } = model;

  const asked = async <T>(leaving: Leaving<T>, host: string, size: EgressSize): Promise<void> => {
    const refused = parts.modelRefused();
    if (refused !== undefined) throw new Fault("refused", `Cannot infer: ${refused}`);
    await parts.egress?.(row, { bytes: size.bytes, host });
    const { use, nonce, texts, tools, maxTokens } = leaving;
    await parts.log.append(row.task, [
      modelAsked(row, { ...size, use, host, model: info, nonce, texts, tools, maxTokens }),
    ]);
  };

  const recorded = async <T>(leaving: Leaving<T>, host: string, size: EgressSize): Promise<T> => {
    await asked(leaving, host, size);
    leaving.onEntered?.();
    const at = powers.now();
    let answer: T;
    try {
      answer = await leaving.send();
    } catch (error) {
      await parts.log.append(row.task, [
        modelFailed(row.pid, {
          nonce: leaving.nonce,
          code: error instanceof Fault ? error.code : "bug",
          message: error instanceof Error ? error.message : String(error),
          ms: powers.now() - at,
        }),
      ]);
      throw error;
    }
    if (leaving.ended !== undefined) await parts.log.append(row.task, [leaving.ended(answer)]);
    return answer;
  };

  const paced = async <T>(leaving: Leaving<T>, key: string): Promise<T> => {
    const { maxTokens, signal } = leaving;
    const size = leaving.size();
    let told: Promise<unknown> = Promise.resolve();
    const onWait = (ms: number): void => {
      told = parts.log.append(row.task, [modelQueued(row, { host: key, ms })]);
      // A cancelled request reports only its cancellation.
      told.catch(() => undefined);
    };
    const entered: Entered = await parts.rates.enter(
      key,
      plan.rates ?? {},
      { tokens: size.tokens + Math.min(maxTokens, USUAL_OUTPUT) },
      { signal, noWait: plan.noWait, onWait },
    );
    try {
      await told;
      const answer = plan.host === undefined
        ? (leaving.onEntered?.(), await leaving.send())
        : await recorded(leaving, plan.host, size);
      entered.settle(leaving.used(answer));
      return answer;
    } catch (error) {
      entered.failed(error);
      throw error;
    }
  };

  const go = <T>(leaving: Leaving<T>): Promise<T> => {
    // A server on loopback has no host for pacing, but may have rates of its own.
    const key = plan.host ?? (plan.rates === undefined ? undefined : info.id);
    if (key !== undefined) return paced(leaving, key);
    leaving.onEntered?.();
    return leaving.send();
  };

  return Object.freeze<GovernedModel>({
    info,
    plan,
    infer: (request, { use = "inference", onEntered, size, ...options }) =>
      go({
        ...{ use, onEntered, maxTokens: request.maxTokens, signal: options.signal },
        nonce: request.nonce,
        size: () => size ?? requestSize(request),
        texts: request.messages.length,
        tools: request.tools.length,
        send: () => model.infer(request, options),
        used: ({ usage }) => usage.inputTokens + usage.outputTokens,
      }),
    embed(texts, signal, onEntered): Promise<Embeddings> {
      const nonce = powers.token();
      return go<Embeddings>({
        use: "embedding",
        nonce,
        size: () => textsSize(texts),
        ...{ texts: texts.length, tools: 0, maxTokens: 0, signal, onEntered },
        send: () => model.embed(texts, signal),
        used: ({ inputTokens }) => inputTokens,
        ended: ({ inputTokens }) => embedded(row, { model: info, nonce, inputTokens }),
      });
    },
  });
}

// Log events of text that leaves this machine for a model: `modelQueued` while the request waits
// for its provider's rate, `modelAsked` before each request, `modelFailed` when no answer came,
// else the answer's own event (`inferred`), joined by nonce. Bodies hold counts and names; the text
// is in the private part of `inferred`.

/** The size of a request. */
interface EgressSize {
  /** UTF-8 bytes of texts, calls and tools; the provider's envelope is not counted. */
  readonly bytes: number;
  /** Estimated. */
  readonly tokens: number;
}

/** The purpose of a request. */
type EgressUse = "inference" | "aside" | "summary" | "embedding";

/** A request before it is sent. */
interface Egress extends EgressSize {
  readonly use: EgressUse;
  /** The provider's host, with a non-default port. */
  readonly host: string;
  readonly model: Pick<ModelInfo, "id" | "backend" | "price">;
  readonly nonce: string;
  /** Messages of the conversation, or texts to embed. */
  readonly texts: number;
  readonly tools: number;
  /** Tokens of the answer, at most. */
  readonly maxTokens: number;
}

/** The requesting process. */
type EgressSubject = Pick<
  ProcessRow,
  "session" | "principal" | "conversation" | "turn" | "pid" | "label" | "colour"
>;

/** Computes the size of a request. */
export function requestSize(
  request: Pick<InferenceRequest, "messages" | "tools" | "responseSchema">,
): EgressSize {
  const texts: string[] = [request.responseSchema ?? ""];
  for (const { content, toolCalls = [] } of request.messages) {
    texts.push(content);
    for (const call of toolCalls) texts.push(call.name, call.arguments, call.echo ?? "");
  }
  for (const { name, description, paramSchema } of request.tools) {
    texts.push(name, description, paramSchema);
  }
  return textsSize(texts);
}

/** Computes the size of texts to embed. */
export function textsSize(texts: readonly string[]): EgressSize {
  let characters = 0, bytes = 0;
  for (const text of texts) {
    characters += text.length;
    bytes += utf8Length(text);
  }
  return { bytes, tokens: Math.ceil(characters / CHARS_A_TOKEN) };
}

/**
 * The event before a request, with the possible cost of its input in US dollars. It is committed
 * first, so that a failed attempt is logged too.
 */
function modelAsked(subject: EgressSubject, egress: Egress): NewEvent {
  const { session, principal, conversation, turn, pid, label, colour } = subject;
  const { use, host, model, nonce, texts, tools, bytes, tokens, maxTokens } = egress;
  const cost = makeModelCost(model.price);
  return {
    kind: "modelAsked",
    body: {
      ...{ session, principal, conversation, turn, pid, label, colour },
      ...{ use, host, model: model.id, backend: model.backend, nonce },
      ...{ texts, tools, bytes, tokens, money: cost.ofInput(tokens) },
      // Counts as spent where the kernel is killed before the answer.
      most: cost.ofInput(tokens) + cost.of({ inputTokens: 0, outputTokens: maxTokens }),
    },
  };
}

/** The event of a request that waits for its provider's rate, about `ms` milliseconds. */
function modelQueued(
  { pid, turn }: Pick<ProcessRow, "pid" | "turn">,
  { host, ms }: { readonly host: string; readonly ms: number },
): NewEvent {
  return { kind: "modelQueued", body: { pid, turn, host, ms } };
}

/** The event of an embedding: an inference outside the conversation, whose text is not kept. */
function embedded(
  { pid, turn }: Pick<ProcessRow, "pid" | "turn">,
  { model, nonce, inputTokens }: {
    readonly model: Pick<ModelInfo, "id" | "backend" | "price">;
    readonly nonce: string;
    readonly inputTokens: number;
  },
): NewEvent {
  const money = makeModelCost(model.price).of({ inputTokens, outputTokens: 0 });
  return {
    kind: "inferred",
    body: {
      ...{ pid, turn, model: model.id, backend: model.backend, nonce, inputTokens },
      ...{ outputTokens: 0, money, finish: "stop", aside: true, embedding: true },
    },
  };
}

/** The event of a request without a complete answer. The provider's message is private. */
function modelFailed(
  pid: ProcessRow["pid"],
  { nonce, code, message, ms }: {
    readonly nonce: string;
    readonly code: FaultCode | "bug";
    readonly message: string;
    /** Milliseconds since the request. */
    readonly ms: number;
  },
): NewEvent {
  const body: JsonObject = { pid, nonce, code, ms };
  return { kind: "modelFailed", body, private: { error: message.toWellFormed().slice(0, 2_048) } };
}

/** Bytes of a text in UTF-8; a lone surrogate counts three, because U+FFFD is sent for it. */
function utf8Length(text: string): number {
  let bytes = text.length;
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    // A pair is four bytes: two for each half.
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.charCodeAt(n + 1);
      if (next < 0xdc00 || next > 0xdfff || Number.isNaN(next)) continue;
      n += 1;
    }
  }
  return bytes;
}
