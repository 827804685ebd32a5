/**
 * A model as one process may use it: what leaves this machine waits for its provider's rate, is judged
 * again after the wait, and is on record before it goes. A model that runs here is passed on as it is.
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

/** What is asked. */
export interface Aside {
  readonly prompt: string;
  /** Most tokens of the answer. */
  readonly maxTokens: number;
}

/** Asks the model of a process's task. Rejects `refused`, `contextOverflow`, `budgetExhausted`, `cancelled`, `upstream`. */
export type AskAside = (row: ProcessRow, aside: Aside, signal: AbortSignal) => Promise<string>;

/** One inference beside the conversation. */
export type InferAside = (
  row: ProcessRow,
  aside: {
    readonly messages: readonly ChatMessage[];
    readonly maxTokens: number;
    /** JSON Schema of the answer, for models that can be held to one. */
    readonly responseSchema?: string;
    /** It stands for messages that gave way. */
    readonly summary?: boolean;
  },
  signal: AbortSignal,
) => Promise<InferenceResponse>;

/** Counts what a process sends to the model of a host. */
export type CountEgress = (
  row: Pick<ProcessRow, "task" | "pid">,
  sends: { readonly bytes: number; readonly host: string },
) => Promise<void>;

/** What {@link governed} is handed. */
export interface GovernParts {
  /** Whose requests they are. For an embedding: with the label of the texts, where it is higher. */
  readonly row: Pick<
    ProcessRow,
    "task" | "session" | "principal" | "conversation" | "turn" | "pid" | "label" | "colour"
  >;
  readonly rates: ModelRates;
  readonly log: Pick<EventLog, "append">;
  readonly powers: Pick<Powers, "now" | "token">;
  /** Counts bytes in budgets before they leave for a host; rejects `budgetExhausted`. Absent: there are none. */
  readonly egress?: CountEgress | undefined;
  /** Why the process may not use this model now; undefined when it may. */
  modelRefused(): string | undefined;
}

/** How a governed inference is made. */
export interface GovernedOptions extends InferOptions {
  readonly use?: EgressUse;
  /** It waits no more: the time for an answer begins. */
  readonly onEntered?: () => void;
  /** What leaves, where the request does not hold it. */
  readonly size?: EgressSize;
}

/** The time for an answer: it counts anew whenever a model of this machine has read more of its request. */
interface AnswerTime {
  start(): void;
  /** False for a report that gives no more time. */
  hears(reading: Reading): boolean;
  /** Tokens that the model said it has read. */
  read(): number;
  stop(): void;
}

/**
 * Makes it; `late` is called once it is up.
 * TRUST: reports are the service's own. Only what goes forward, within `window` tokens, gives more time.
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
  /** As the model's own; also rejects `rateLimited`, `refused`, `storeFull`. */
  infer(request: InferenceRequest, options: GovernedOptions): Promise<InferenceResponse>;
  /** The caller charges its budget with what it cost; the log has it. */
  embed(
    texts: readonly string[],
    signal: AbortSignal,
    onEntered?: () => void,
  ): Promise<Embeddings>;
}

interface Leaving<T> {
  readonly use: EgressUse;
  readonly nonce: string;
  /** Costs a walk over the conversation: not asked for where nothing leaves. */
  size(): EgressSize;
  readonly texts: number;
  readonly tools: number;
  /** Most tokens of the answer. */
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  readonly onEntered?: (() => void) | undefined;
  send(): Promise<T>;
  used(answer: T): number;
  /** The event of an answer that nobody else writes. */
  ended?(answer: T): NewEvent;
}

/** Puts rate and record before a model. */
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
      // Whoever is cancelled meanwhile hears of that alone.
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
    // A server on loopback has no host to pace by, but may have rates of its own.
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

// What the log says of text that leaves this machine for a model: `modelQueued` where it waits for its
// provider's rate, `modelAsked` before each request, `modelFailed` when no answer came, and else the answer's own event (`inferred`), joined by nonce.
// Bodies hold counts and names; the text itself lies in the private part of `inferred`.

/** How much leaves. */
interface EgressSize {
  /** UTF-8 bytes of texts, calls and tools; the provider's envelope is not counted. */
  readonly bytes: number;
  /** An estimate. */
  readonly tokens: number;
}

/** What a request is for. */
type EgressUse = "inference" | "aside" | "summary" | "embedding";

/** A request that is about to leave. */
interface Egress extends EgressSize {
  readonly use: EgressUse;
  /** The provider's host, with its port where it is not the usual one. */
  readonly host: string;
  readonly model: Pick<ModelInfo, "id" | "backend" | "price">;
  readonly nonce: string;
  /** Messages of the conversation, or texts to be embedded. */
  readonly texts: number;
  readonly tools: number;
  /** Most tokens of the answer. */
  readonly maxTokens: number;
}

/** Whose request it is. */
type EgressSubject = Pick<
  ProcessRow,
  "session" | "principal" | "conversation" | "turn" | "pid" | "label" | "colour"
>;

/** Counts what a request sends. */
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

/** Counts what texts to be embedded send. */
export function textsSize(texts: readonly string[]): EgressSize {
  let characters = 0, bytes = 0;
  for (const text of texts) {
    characters += text.length;
    bytes += utf8Length(text);
  }
  return { bytes, tokens: Math.ceil(characters / CHARS_A_TOKEN) };
}

/**
 * The event before a request leaves, with what its input may cost in US dollars: commit it first, so
 * that an attempt that fails is on record.
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
      // What counts as spent where a kernel is killed before the answer.
      most: cost.ofInput(tokens) + cost.of({ inputTokens: 0, outputTokens: maxTokens }),
    },
  };
}

/** The event of a request that waits for its provider's rate, about so many milliseconds. */
function modelQueued(
  { pid, turn }: Pick<ProcessRow, "pid" | "turn">,
  { host, ms }: { readonly host: string; readonly ms: number },
): NewEvent {
  return { kind: "modelQueued", body: { pid, turn, host, ms } };
}

/** The event of vectors that came: an inference beside the conversation, of which no text is kept. */
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

/** The event of a request to which no whole answer came. A provider's words are private. */
function modelFailed(
  pid: ProcessRow["pid"],
  { nonce, code, message, ms }: {
    readonly nonce: string;
    readonly code: FaultCode | "bug";
    readonly message: string;
    /** Milliseconds since it was asked. */
    readonly ms: number;
  },
): NewEvent {
  const body: JsonObject = { pid, nonce, code, ms };
  return { kind: "modelFailed", body, private: { error: message.toWellFormed().slice(0, 2_048) } };
}

/** Bytes of a text in UTF-8; a lone surrogate counts three, as it is sent as U+FFFD. */
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
