/** Opens a scripted model and streams what its scenario says. @module */
import * as z from "zod";
import { Fault } from "../../contracts/fault.ts";
import type {
  InferenceResponse,
  LanguageModel,
  ModelInfo,
  StreamChunk,
} from "../../contracts/model.ts";
import type { OpenBody } from "../../contracts/wire_model.ts";
import type { Timer } from "../timer_powers.ts";
import { chooseTurn } from "./match.ts";
import { playTurn, requestTokens } from "./play.ts";
import { parseScenario } from "./scenario.ts";
import type { Scenario, Stream } from "./schema.ts";
import { renderText } from "./template.ts";
import { type View, viewOf } from "./view.ts";

const Config = z.object({ file: z.string().max(4_096), text: z.string() }).strict();
const CHUNK_CHARS = 24;
const CONTEXT_TOKENS = 200_000;
const OUTPUT_TOKENS = 8_192;

/** Opens the scenario in `config`, JSON of `{ file, text }`. Throws `invalidInput` with its place. */
export function openScripted(
  { config }: Pick<OpenBody, "config">,
  { timer }: { readonly timer: Timer },
): Promise<LanguageModel> {
  return Promise.try(() => {
    const { file, text } = parseConfig(config);
    return makeScripted(parseScenario(text, file), timer);
  });
}

/** Makes a model that plays `scenario`. It remembers nothing but how often each error was given. */
export function makeScripted(scenario: Scenario, timer: Timer): LanguageModel {
  const info = infoOf(scenario);
  const errors = new Map<number, number>();

  return Object.freeze<LanguageModel>({
    info: () => Promise.resolve(info),
    async infer(request, { onChunk = () => {}, signal }): Promise<InferenceResponse> {
      if (signal.aborted) throw new Fault("cancelled", "Cannot infer: cancelled");
      const view = viewOf(request.messages, request.tools);
      const chosen = chooseTurn(scenario, view);
      if (chosen === undefined) throw nothingFits(scenario, view);
      const { turn, index } = chosen;
      const tokens = requestTokens(request);
      if (tokens > info.contextTokens) {
        const why = `${tokens} tokens are more than ${info.contextTokens}`;
        throw new Fault("contextOverflow", `Cannot infer: ${why}`);
      }
      const response = playTurn(turn, view, request, info.id);
      const stream = { ...scenario.stream, ...turn.stream };
      await wait(timer, stream.firstMs, signal);
      if (turn.rationale !== undefined) onChunk({ rationale: renderText(turn.rationale, view) });
      await streamText(response.message.content, stream, { onChunk, timer, signal });
      if (turn.hang === true) await hang(signal);
      if (turn.error !== undefined) {
        const given = errors.get(index) ?? 0;
        if (given < (turn.error.times ?? Infinity)) {
          errors.set(index, given + 1);
          throw new Fault(turn.error.code, turn.error.message);
        }
      }
      for (const call of response.message.toolCalls ?? []) onChunk({ toolCallDelta: call });
      return response;
    },
  });
}

function parseConfig(config: string): z.infer<typeof Config> {
  try {
    return Config.parse(JSON.parse(config));
  } catch (cause) {
    throw new Fault(
      "invalidInput",
      "Cannot open scripted model: its config is not { file, text }",
      {
        cause,
      },
    );
  }
}

function infoOf({ scenario, model = {} }: Scenario): ModelInfo {
  return {
    id: `scripted:${scenario}`,
    displayName: model.displayName ?? `${scenario} (scripted)`,
    arch: "scripted",
    contextTokens: model.contextTokens ?? CONTEXT_TOKENS,
    outputTokens: model.outputTokens ?? OUTPUT_TOKENS,
    backend: "scripted",
    supportsTools: model.supportsTools ?? true,
    remote: model.remote ?? false,
    ...(model.price === undefined ? {} : { price: model.price }),
  };
}

async function streamText(
  text: string,
  { chunkChars = CHUNK_CHARS, delayMs }: Stream,
  { onChunk, timer, signal }: {
    readonly onChunk: (chunk: StreamChunk) => void;
    readonly timer: Timer;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  for (let at = 0; at < text.length;) {
    let end = at + chunkChars;
    // A pair of surrogates is one character: it is not sent in halves.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    await wait(timer, delayMs, signal);
    onChunk({ textDelta: text.slice(at, end) });
    at = end;
  }
}

async function wait(timer: Timer, ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (ms !== undefined && ms > 0) await timer.wait(ms, signal);
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const cancel = (): void => {
      reject(new Fault("cancelled", "Cannot go on with the inference: cancelled"));
    };
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
  });
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function nothingFits({ scenario }: Scenario, { inference, last }: View): Fault {
  const who = last?.role === "tool" ? `tool ${last.toolName ?? "?"}` : last?.role ?? "nobody";
  const quoted = JSON.stringify((last?.content ?? "").slice(0, 160));
  return new Fault(
    "upstream",
    `Cannot infer: no turn of scenario "${scenario}" fits inference ${inference}; ` +
      `the last message, of ${who}, is ${quoted}`,
  );
}
