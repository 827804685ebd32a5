/**
 * Making room in a process's conversation: removed messages are archived in one event before the
 * worker continues without them. Used by kernel/task/session/inference.ts.
 * @module
 */
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import type {
  InferenceRequest,
  InferenceResponse,
  ModelInfo,
} from "../../../contracts/model/model.ts";
import type { Powers, ProcessRow } from "../../../contracts/task/process.ts";
import type { EventLog } from "../../../contracts/task/store.ts";
import {
  estimateTokens,
  estimateToolTokens,
  makeTokenRatio,
  type TokenRatio,
} from "../../../contracts/model/tokens.ts";
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";
import type {
  ContextAnswer,
  ContextMethod,
  ContextPressure,
} from "../../../contracts/wire/wire_worker.ts";
import { asJson } from "../../../port/as_json.ts";
import { inputTokens } from "../../power/model/money.ts";
import { withoutEchoes, type WorkerRequest } from "../worker/worker_ops.ts";
import { type ContextPlan, planContext, planShortening, PRESSED, SHARE, TAGS } from "./plan.ts";
import { standIn, SUMMARIZER, summaryPrompt, summaryTokens } from "./summary.ts";

type ContextBody = Extract<WorkerRequest, { op: "context" }>["body"];

/** The process, its log, conversation, window and summarizer. */
interface ContextChangeParts {
  readonly row: ProcessRow;
  readonly log: Pick<EventLog, "append">;
  readonly powers: Pick<Powers, "token">;
  /** The kernel's copy of the conversation, changed in place. */
  readonly conversation: ChatMessage[];
  /** Number of changes in the task's log already. */
  readonly changes: number;
  /** Tokens of the window. */
  window(): number;
  /** The token ratio of the model in use. */
  ratio(): Pick<TokenRatio, "now" | "of">;
  /** The tools offered to the model. */
  tools(): readonly ToolDescriptor[];
  /** The summarizer: its window in tokens, and an inference outside the conversation. */
  readonly summarizer: {
    readonly id: string;
    readonly window: number;
    infer(
      messages: readonly ChatMessage[],
      maxTokens: number,
      signal: AbortSignal,
    ): Promise<InferenceResponse>;
  };
}

/** Operations on the window of a process's conversation. */
export interface ContextChange {
  /** Makes room; without a summary messages are left out unsummarized. */
  makeRoom(body: ContextBody, signal: AbortSignal): Promise<ContextAnswer>;
  /** The pressure on the window for an estimated input, in tokens; undefined below {@link PRESSED}. */
  pressure(input: number, reserve: number): ContextPressure | undefined;
}

/** Makes the changes of one process's conversation. */
export function makeContextChange(parts: ContextChangeParts): ContextChange {
  const { row, conversation } = parts;
  let changes = parts.changes;
  /** Requests in the current turn, which are limited so that a program cannot fill the log. */
  let asked = { turn: row.turn, times: 0 };
  const checkTimes = (): void => {
    asked = row.turn === asked.turn
      ? { ...asked, times: asked.times + 1 }
      : { turn: row.turn, times: 1 };
    if (asked.times > row.limits.iterations) {
      throw new Fault("budgetExhausted", "Cannot make room: it was made too often in this turn");
    }
  };

  const roomOf = ({ method, preserve, important, share, reserve }: ContextBody) => ({
    window: parts.window(),
    fixed: parts.ratio().of(estimateToolTokens(parts.tools())) + reserve,
    ratio: parts.ratio().now(),
    method,
    preserve: preserve ?? TAGS,
    important: new Set(important),
    share: share ?? SHARE,
    put: method === "compact" ? summaryTokens(parts.window()) : NOTE_TOKENS,
  });

  const record = async (change: {
    readonly method: ContextMethod | "shorten";
    readonly from: number;
    readonly replaced: readonly ChatMessage[];
    readonly by: readonly ChatMessage[];
    readonly body: JsonObject;
    readonly append: readonly ChatMessage[];
    readonly base: number;
    readonly fixed: number;
  }): Promise<number> => {
    const { method, from, replaced, by, body, append, base, fixed } = change;
    const number = ++changes;
    const ratio = parts.ratio();
    const size = (): number => ratio.of(estimateTokens(conversation)) + fixed;
    const before = size();
    conversation.splice(from, replaced.length, ...by);
    await parts.log.append(row.task, [{
      kind: "contextCompacted",
      body: {
        ...{ pid: row.pid, turn: row.turn, number, method, before },
        ...{
          after: size(),
          limit: parts.window(),
          fixed,
          base,
          from,
        },
        ...(ratio.now() === 1 ? {} : { ratio: ratio.now() }),
        ...body,
        // A child's conversation is not the task's.
        ...(row.ppid === undefined ? {} : { child: true }),
      },
      private: { append: asJson(append), replaced: asJson(replaced), by: asJson(by) },
    }]);
    return number;
  };

  const summaryOf = async (
    plan: ContextPlan,
    signal: AbortSignal,
  ): Promise<{ readonly text: string } | { readonly failed: string }> => {
    const { summarizer } = parts;
    const maxTokens = summaryTokens(parts.window());
    const instruction: ChatMessage = {
      role: "system",
      content: `${SUMMARIZER} At most ${Math.floor(maxTokens / 2)} words.`,
      provenance: { origin: "kernel", colour: "BLUE", label: "public" },
    };
    const { provenance } = standIn(plan.evicted, {
      number: 0,
      summary: undefined,
      checkpoint: false,
    });
    const data: ChatMessage = {
      role: "user",
      content: summaryPrompt(plan.evicted, {
        window: Math.floor(Math.min(summarizer.window, parts.window()) / parts.ratio().now()),
        mark: parts.powers.token(),
      }),
      provenance,
    };
    try {
      const { message } = await summarizer.infer([instruction, data], maxTokens, signal);
      const text = message.content.trim().slice(0, maxTokens * CHARS_PER_SUMMARY_TOKEN);
      return text === "" ? { failed: "upstream" } : { text };
    } catch (error) {
      if (!(error instanceof Fault) || STORE_FAULTS.has(error.code)) throw error;
      return { failed: error.code };
    }
  };

  return Object.freeze<ContextChange>({
    async makeRoom(body: ContextBody, signal: AbortSignal): Promise<ContextAnswer> {
      const base = body.base ?? conversation.length;
      if (base > conversation.length) {
        throw new Fault(
          "invalidInput",
          `Cannot make room: the conversation has ${conversation.length} messages, not ${base}`,
        );
      }
      checkTimes();
      const append = (body.append ?? []).map(withoutEchoes);
      conversation.length = base;
      conversation.push(...append);
      const room = roomOf(body);
      const size = (): number => Math.ceil(estimateTokens(conversation) * room.ratio) + room.fixed;
      const before = size();
      const origin = { base, append, fixed: room.fixed };
      let made: Pick<ContextAnswer, "number" | "method"> = {};
      let from = conversation.length;

      const plan = planContext(conversation, room);
      if (plan !== undefined) {
        const summary = body.method === "compact" ? await summaryOf(plan, signal) : undefined;
        const text = summary !== undefined && "text" in summary ? summary.text : undefined;
        const put = standIn(plan.evicted, {
          number: changes + 1,
          summary: text,
          checkpoint: body.method === "checkpoint",
        });
        const method = body.method === "compact" && text === undefined ? "evict" : body.method;
        from = plan.from;
        const number = await record({
          ...{ method, from, replaced: plan.replaced, by: [put, ...plan.kept], ...origin },
          body: {
            evicted: plan.evicted.length,
            preserved: [...plan.preserved],
            colour: put.provenance.colour,
            label: put.provenance.label,
            ...(text === undefined ? {} : { model: parts.summarizer.id }),
            ...(summary !== undefined && "failed" in summary ? { failed: summary.failed } : {}),
          },
        });
        made = { number, method };
      }
      const cut = planShortening(conversation, room);
      if (cut !== undefined) {
        from = Math.min(from, cut.from);
        const replaced = conversation.slice(cut.from);
        const whole = conversation.length;
        const number = await record({
          ...{ method: "shorten" as const, from: cut.from, replaced, by: cut.messages },
          ...(made.number === undefined ? origin : { ...origin, base: whole, append: [] }),
          body: { evicted: 0, preserved: [] },
        });
        made = { number: made.number ?? number, method: made.method ?? "shorten" };
      }
      return {
        ...made,
        before,
        after: size(),
        from,
        messages: conversation.slice(from),
      };
    },
    pressure(input: number, reserve: number): ContextPressure | undefined {
      const limit = parts.window();
      const fixed = parts.ratio().of(estimateToolTokens(parts.tools())) + reserve;
      const used = parts.ratio().of(input) + fixed;
      if (used < limit * PRESSED) return undefined;
      // Where tools and answer alone fill the window, only a checkpoint helps.
      return { used, limit, recommended: fixed > limit * PRESSED ? "checkpoint" : "compact" };
    },
  });
}

/** Tokens of a note that replaces messages. */
const NOTE_TOKENS = 40;
/** Characters kept of a summary, for each of its tokens. */
const CHARS_PER_SUMMARY_TOKEN = 6;
/** Faults of the log: the process must end. */
const STORE_FAULTS: ReadonlySet<string> = new Set(["storeFull", "storeCorrupt"]);

// How the models of one process count tokens, learnt from their reported usage and their refusals.
// Without this a window of Chinese would seem a quarter as full as it is.

/** The token ratios of one process. */
export interface TokenCounts {
  /** The ratio of the model in use; each model has its own. */
  ratio(): TokenRatio;
  /** Runs an inference and learns from its usage or refusal; `window`: the model's assumed tokens. */
  learning(
    request: InferenceRequest,
    window: number,
    infer: () => Promise<InferenceResponse>,
  ): Promise<InferenceResponse>;
}

/** Makes the counts of a process, without any knowledge yet. */
export function makeTokenCounts(model: { readonly info: Pick<ModelInfo, "id"> }): TokenCounts {
  const ratios = new Map<string, TokenRatio>();
  const ratio = (): TokenRatio => {
    const known = ratios.get(model.info.id) ?? makeTokenRatio();
    ratios.set(model.info.id, known);
    return known;
  };
  return Object.freeze<TokenCounts>({
    ratio,
    async learning(request, window, infer) {
      const estimate = inputTokens(request);
      const own = ratio();
      try {
        const response = await infer();
        own.learn(estimate, response.usage.inputTokens);
        return response;
      } catch (error) {
        if (error instanceof Fault && error.code === "contextOverflow") {
          const tokens = error.detail?.["tokens"];
          own.refused(estimate, typeof tokens === "number" ? tokens - 1 : window);
        }
        throw error;
      }
    },
  });
}
