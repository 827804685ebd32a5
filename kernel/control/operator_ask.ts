/**
 * Inferences and embeddings for the operator: no process, no tools, no conversation. Wired in
 * kernel/main_models.ts.
 * @module
 */
import { defined } from "../core/process/defined.ts";
import { DEFAULT_LIMITS } from "../../contracts/task/budget.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { Pid, SessionId, TaskId } from "../../contracts/authority/ids.ts";
import type { ChatMessage } from "../../contracts/model/chat.ts";
import type { Colour, Label } from "../../contracts/authority/colour.ts";
import type { ModelAnswer, Vectors } from "../../contracts/task/control_answers.ts";
import type { InferenceResponse } from "../../contracts/model/model.ts";
import type { Powers } from "../../contracts/task/process.ts";
import type { ModelChoice } from "../../contracts/task/task.ts";
import { estimateTokens } from "../../contracts/model/tokens.ts";
import { inputTokens, makeModelCost } from "../power/model/money.ts";
import { type EmbeddersParts, type EmbedOptions, makeEmbedders } from "../power/model/embedders.ts";
import { governed, type GovernedModel, textsSize } from "../power/model/governed_model.ts";
import type { OpenModel } from "../power/model/services.ts";

interface OperatorAskParts
  extends Pick<EmbeddersParts, "rates" | "log" | "modelRefused" | "provide" | "egress"> {
  readonly powers: Pick<Powers, "id" | "after" | "now" | "token">;
  /** Throws `budgetExhausted` where `money`, US dollars, does not fit the operator's budgets; absent: there are none. */
  afford?(money: number): Promise<void>;
}

/** A request to a model, with the label and colour of its text. */
export interface OperatorAsk {
  readonly model: ModelChoice;
  readonly system: string;
  readonly user: string;
  /** JSON Schema of the answer, as text; ignored by backends without support. */
  readonly responseSchema?: string | undefined;
  readonly maxTokens: number;
  readonly temperature?: number | undefined;
  readonly label: Label;
  readonly colour: Colour;
}

/** Milliseconds for one answer: a small local model may write a whole page. */
const ASK_MS = 600_000;
/** References of embedding models. */
const EMBEDS = /^[a-z]+-embed:/;

/**
 * Makes the control operation `ask`. The text is judged by its label, waits for the provider's rate
 * and is logged before it is sent, in a chain of the operator's own, which keeps counts and no
 * text. Rejects like the model, and with `clearance`, `refused`, `contextOverflow`, `timedOut`,
 * `invalidInput`.
 */
export function makeOperatorAsk(
  parts: OperatorAskParts,
): (asked: OperatorAsk) => Promise<ModelAnswer> {
  const { powers, log } = parts;
  const task = TaskId.parse(powers.id("t"));
  const session = SessionId.parse(powers.id("s"));
  const provide = makeProviding(parts.provide);

  return async (asked) => {
    const { model: choice, label, colour } = asked;
    const { open, release } = await provide(choice);
    const late = new AbortController();
    let disarm = (): void => undefined;
    try {
      const { host } = open.plan;
      const sink = {
        ref: choice.ref,
        remote: host !== undefined,
        ...(host === undefined ? {} : { host }),
      };
      const refusedAt = (at: Label): string | undefined =>
        parts.modelRefused({ profile: "operator", label: at }, sink);
      const why = refusedAt(label);
      if (why !== undefined) {
        const never = refusedAt("public") !== undefined;
        throw new Fault(never ? "refused" : "clearance", `Cannot ask the model: ${why}`);
      }
      const own = governed(open, {
        ...{ rates: parts.rates, log, powers, egress: parts.egress },
        row: {
          ...{ task, session, principal: "operator", conversation: "main", turn: 0 },
          ...{ pid: Pid.parse(1), label, colour },
        },
        modelRefused: () => refusedAt(label),
      });
      const request = requestOf(asked, own, powers.token());
      const { price } = own.info;
      if (price !== undefined) {
        await parts.afford?.(makeModelCost(price).ofInput(inputTokens(request)));
      }
      const response = await own.infer(request, {
        use: "aside",
        onChunk: () => undefined,
        signal: late.signal,
        onEntered: () => {
          disarm = powers.after(ASK_MS, () => late.abort());
        },
      });
      const answer = answerOf(response, request.messages, own);
      const { text: _kept, finishReason: finish, ...used } = answer;
      await log.append(task, [{
        kind: "inferred",
        body: {
          ...{ pid: 1, turn: 0, model: own.info.id, backend: own.info.backend },
          ...{ nonce: request.nonce, finish, aside: true, ...used },
        },
      }]);
      return answer;
    } catch (error) {
      if (!late.signal.aborted) throw error;
      throw new Fault("timedOut", "Cannot ask the model: its time is up", { cause: error });
    } finally {
      disarm();
      release();
    }
  };
}

/** Opens a model for each request; a recording continues where the last request ended. */
function makeProviding(
  provide: EmbeddersParts["provide"],
): (choice: ModelChoice) => Promise<{ readonly open: OpenModel; release(): void }> {
  let played: { readonly config: string; readonly open: OpenModel } | undefined;
  return async (choice) => {
    if (EMBEDS.test(choice.ref)) {
      throw new Fault(
        "invalidInput",
        `Cannot ask "${
          choice.ref.slice(0, 200)
        }": it makes vectors; choose a model that makes text`,
      );
    }
    if (!isRecording(choice.config)) {
      const open = await provide(choice);
      return { open, release: open.release };
    }
    if (played?.config !== choice.config) {
      const open = await provide(choice);
      played?.open.release();
      played = { config: choice.config, open };
    }
    return { open: played.open, release: () => undefined };
  };
}

function isRecording(config: string): boolean {
  try {
    const read: unknown = JSON.parse(config);
    return typeof read === "object" && read !== null && "replay" in read;
  } catch {
    return false; // Not JSON: the model services report it.
  }
}

function requestOf(
  { system, user, responseSchema, maxTokens, temperature, label, colour }: OperatorAsk,
  { info, plan }: Pick<GovernedModel, "info" | "plan">,
  nonce: string,
): Parameters<GovernedModel["infer"]>[0] {
  const messages: ChatMessage[] = [
    {
      role: "system",
      content: system,
      provenance: { origin: "kernel", colour: "BLUE", label: "public" },
    },
    { role: "user", content: user, provenance: { origin: "operator", colour, label } },
  ];
  const input = estimateTokens(messages);
  if (input >= info.contextTokens) {
    throw new Fault(
      "contextOverflow",
      `Cannot ask the model: about ${input} tokens do not fit its ${info.contextTokens}`,
    );
  }
  return {
    ...{ messages, tools: [], nonce },
    maxTokens: Math.min(maxTokens, info.outputTokens),
    ...defined({ temperature: plan.temperature ?? temperature, seed: plan.seed, responseSchema }),
  };
}

function answerOf(
  { message, finishReason, usage }: InferenceResponse,
  messages: readonly ChatMessage[],
  { info }: Pick<GovernedModel, "info">,
): ModelAnswer {
  const cost = makeModelCost(info.price);
  const counted = cost.counted(usage, {
    inputTokens: estimateTokens(messages),
    outputTokens: estimateTokens([message]),
  });
  return { text: message.content, finishReason, ...counted, money: cost.of(counted) };
}

type OperatorEmbedParts = Parameters<typeof makeEmbedders>[0] & Pick<OperatorAskParts, "afford"> & {
  readonly powers: Pick<Powers, "id" | "after">;
};

/** Texts to embed, the model, and the texts' label. */
export interface OperatorEmbed {
  readonly model: ModelChoice;
  /** At most 256. */
  readonly texts: readonly string[];
  readonly label: Label;
}

/**
 * Makes the control operation `embed`. The texts are judged by their label, wait for the provider's
 * rate and are logged before they are sent, in a chain of the operator's own, which `audit query`
 * shows under an id that no task has. Rejects like {@link makeEmbedders}, and with `timedOut`.
 */
export function makeOperatorEmbed(
  parts: OperatorEmbedParts,
): (asked: OperatorEmbed) => Promise<Vectors> {
  const { powers } = parts;
  const embedders = makeEmbedders(parts);
  const row: EmbedOptions["row"] = Object.freeze({
    task: TaskId.parse(powers.id("t")),
    session: SessionId.parse(powers.id("s")),
    ...{ principal: "operator", profile: "operator", conversation: "main", turn: 0 },
    ...{ pid: Pid.parse(1), label: "public", colour: "BLUE" },
  });
  return async ({ model, texts, label }) => {
    const embedder = await embedders.provide(model);
    const late = new AbortController();
    let disarm = (): void => undefined;
    try {
      const { info } = embedder;
      const options = {
        ...{ row, label, signal: late.signal },
        // The wait for a provider's rate does not count.
        onEntered: () => {
          disarm = powers.after(DEFAULT_LIMITS.generationTimeoutMs, () => late.abort());
        },
      };
      const cost = makeModelCost(info.price);
      // INVARIANT: no text leaves that no budget pays for (test: "vectors that do not fit the budget …").
      if (info.price !== undefined) await parts.afford?.(cost.ofInput(textsSize(texts).tokens));
      const { vectors, inputTokens } = await embedder.embed(texts, options);
      const money = cost.of({ inputTokens, outputTokens: 0 });
      return { model: info.id, vectors: vectors.map((each) => [...each]), inputTokens, money };
    } catch (error) {
      if (!late.signal.aborted) throw error;
      throw new Fault("timedOut", "Cannot embed: its time is up", { cause: error });
    } finally {
      disarm();
      embedder.release();
    }
  };
}
