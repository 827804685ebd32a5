/** The provider-independent part of a remote model: prepare a request, try it, assemble the answer. @module */
import { readProvenance } from "../service.ts";
import type { Provenance } from "../../contracts/model/chat.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { RemoteConfig } from "../../contracts/model/model_config.ts";
import type { InferenceResponse, LanguageModel, ModelInfo } from "../../contracts/model/model.ts";
import { toolLimits } from "../../contracts/tool/tool_limits.ts";
import { makeAdvertise } from "./advertised.ts";
import { type Assembled, type Delta, makeAssembler } from "./assemble.ts";
import { type MakeDialect, strayCall } from "./dialect_of.ts";
import type { Endpoint } from "./endpoint.ts";
import { makeRedact, redactMessages } from "./redact/redact.ts";
import { prepare, type Prepared } from "./prepared.ts";

export type { Prepared } from "./prepared.ts";

/** Options of one try. */
export interface TryOptions {
  readonly signal: AbortSignal;
  readonly onWire?: ((exchange: string) => void) | undefined;
}

/** A provider's protocol: one try, its stream passed on as deltas. Rejects with a fault. */
export type Stream = (
  request: Prepared,
  options: TryOptions & { readonly take: (delta: Delta) => void },
) => Promise<void>;

/** A provider: description, endpoint, and how requests are written and answers read. */
export interface RemoteModelParts {
  readonly info: ModelInfo;
  readonly config: RemoteConfig;
  readonly endpoint: Endpoint;
  readonly stream: Stream;
  /** Makes a parser per answer; absent: text is text. */
  readonly dialect?: MakeDialect | undefined;
}

const CHARS_A_TOKEN = 4;

/** Makes the language model of a provider's protocol. */
export function makeRemoteModel(parts: RemoteModelParts): LanguageModel {
  const { info, config, endpoint, stream } = parts;
  const redact = makeRedact(config.redact ?? []);
  const advertise = makeAdvertise(toolLimits(info.backend));

  return Object.freeze<LanguageModel>({
    info: () => Promise.resolve(info),
    async infer(request, { onChunk = () => {}, onWire, signal }) {
      if (signal.aborted) throw new Fault("cancelled", "Cannot infer: cancelled");
      const told = redactMessages(request.messages, redact);
      const calls = told.flatMap(({ toolCalls = [] }) => toolCalls);
      const advertised = advertise(request.tools, calls.map(({ name }) => name));
      const prepared = prepare(request, { told, advertised, config, info });
      const lost = { inputTokens: 0, outputTokens: 0 };
      const attempt = async (): Promise<Assembled> => {
        const assembler = makeAssembler({
          onChunk,
          names: advertised.names,
          knownIds: calls.map(({ id }) => id),
          streamText: endpoint.streamText,
          maxTokens: prepared.maxTokens,
          dialect: parts.dialect?.(advertised),
        });
        try {
          await stream(prepared, {
            signal,
            onWire: config.record === true ? onWire : undefined,
            take: assembler.take,
          });
          const answer = assembler.end();
          const stray = parts.dialect === undefined && advertised.offered.size > 0 &&
              answer.finishReason === "stop"
            ? await strayCall(answer.content, advertised)
            : undefined;
          return stray === undefined ? answer : assembler.end([{ call: stray }]);
        } catch (error) {
          if (signal.aborted) {
            const why = "Cannot go on with the inference: cancelled";
            throw new Fault("cancelled", why, { cause: error });
          }
          const cost = assembler.cost();
          if (assembler.begun() || cost.inputTokens !== undefined) {
            lost.inputTokens += cost.inputTokens ?? estimateOf(prepared);
            lost.outputTokens += cost.outputTokens;
          }
          // INVARIANT: text that was passed on is never repeated by a retry; the kernel discards it and asks
          // again (test: "… after text nothing is said twice").
          throw assembler.begun() ? brokeOff(error) : error;
        }
      };
      const answer = await endpoint.retrying(attempt, signal).catch(filtered)
        .catch((error: unknown) => tried(error, lost));
      return responseOf(answer, { prepared, lost }, readProvenance(request.messages, info.id));
    },
  });
}

/** A refusal by a content filter is an answer with its own finish reason. */
function filtered(error: unknown): Assembled {
  if (!(error instanceof Fault) || error.detail?.["filtered"] !== true) throw error;
  return {
    content: "",
    toolCalls: [],
    inputTokens: undefined,
    outputTokens: 0,
    cacheReadTokens: undefined,
    cacheWriteTokens: undefined,
    finishReason: "contentFilter",
  };
}

/** Tokens of answers that broke off; the provider charges for them. */
interface Lost {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * Adds `tried`, so that the kernel does not repeat retries that were made here, unless part of the answer was
 * passed on (`broke`); and the tokens of broken answers.
 */
function tried(error: unknown, lost: Lost): never {
  if (!(error instanceof Fault)) throw error;
  const { again: _again, afterMs: _after, ...detail } = error.detail ?? {};
  throw new Fault(error.code, error.message, {
    detail: {
      ...detail,
      ...(detail["broke"] === true ? {} : { tried: true }),
      ...(lost.inputTokens === 0 ? {} : { usage: { ...lost } }),
    },
    cause: error,
  });
}

/** The fault of an answer that broke off after its first chunk and may be requested again. */
function brokeOff(error: unknown): unknown {
  if (!(error instanceof Fault) || error.detail?.["again"] !== true) return error;
  const { again: _again, ...detail } = error.detail;
  return new Fault(error.code, error.message, { detail: { ...detail, broke: true }, cause: error });
}

function estimateOf(prepared: Prepared): number {
  return Math.ceil(JSON.stringify(prepared).length / CHARS_A_TOKEN);
}

function responseOf(
  answer: Assembled,
  { prepared, lost }: { readonly prepared: Prepared; readonly lost: Lost },
  provenance: Provenance,
): InferenceResponse {
  const { content, toolCalls, finishReason, cacheReadTokens, cacheWriteTokens } = answer;
  const written = toolCalls.reduce((sum, { arguments: args }) => sum + args.length, content.length);
  return {
    message: {
      role: "assistant",
      content,
      ...(toolCalls.length === 0 ? {} : { toolCalls: [...toolCalls] }),
      provenance,
    },
    usage: {
      inputTokens: lost.inputTokens + (answer.inputTokens ?? estimateOf(prepared)),
      outputTokens: lost.outputTokens +
        (answer.outputTokens ?? Math.ceil(written / CHARS_A_TOKEN)),
      ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
      ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    },
    finishReason,
  };
}
