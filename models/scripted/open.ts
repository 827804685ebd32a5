/** A scripted model for models/main.ts: opens a scenario, selects and streams turns. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type {
  FinishReason,
  InferenceRequest,
  InferenceResponse,
  LanguageModel,
  ModelInfo,
  StreamChunk,
} from "../../contracts/model/model.ts";
import type { OpenBody } from "../../contracts/wire/wire_model.ts";
import type { Timer } from "../timer_powers.ts";
import { parseScenario } from "./scenario.ts";
import type { Nth, Scenario, ScriptedTurn, Stream, TextMatch, When } from "./schema.ts";
import { renderText, renderValue } from "./template.ts";
import { readProvenance } from "../service.ts";
import type { ChatMessage, ToolCall } from "../../contracts/model/chat.ts";
import { CallId } from "../../contracts/authority/ids.ts";
import { Outcome } from "../../contracts/tool/tool.ts";
import * as z from "zod";

const Config = z.object({ file: z.string().max(4_096), text: z.string() }).strict();
const CHUNK_CHARS = 24;
const CONTEXT_TOKENS = 200_000;
const OUTPUT_TOKENS = 8_192;

/** Opens the scenario in `config`, JSON of `{ file, text }`. Throws `invalidInput` with the place. */
export function openScripted(
  { config }: Pick<OpenBody, "config">,
  { timer }: { readonly timer: Timer },
): Promise<LanguageModel> {
  return Promise.try(() => {
    const { file, text } = parseConfig(config);
    return makeScripted(parseScenario(text, file), timer);
  });
}

/** Makes a model that plays `scenario`. Its only state is how often each error occurred. */
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
    // A surrogate pair is not split.
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

/** A turn and its index in the file. */
interface ChosenTurn {
  readonly index: number;
  readonly turn: ScriptedTurn;
}

/** The first turn that fits, or undefined. */
function chooseTurn(scenario: Scenario, view: View): ChosenTurn | undefined {
  // Turns without `when` are numbered separately.
  let place = 0;
  for (const [index, turn] of scenario.turns.entries()) {
    if (turn.when === undefined) place += 1;
    if (fits(turn, place, view)) return { index, turn };
  }
  return undefined;
}

function fits(turn: ScriptedTurn, place: number, view: View): boolean {
  if (turn.when !== undefined) return holds(turn.when, view);
  return turn.loop === true ? view.inference >= place : view.inference === place;
}

function holds(when: When, view: View): boolean {
  return (when.user === undefined || matches(when.user, view.user)) &&
    (when.system === undefined || matches(when.system, view.system)) &&
    (when.result === undefined || view.fresh.some((result) => resultFits(when.result, result))) &&
    within(when.message, view.message) &&
    within(when.step, view.step) &&
    within(when.inference, view.inference) &&
    (when.offered ?? []).every((tool) => view.offered.has(tool)) &&
    !(when.notOffered ?? []).some((tool) => view.offered.has(tool));
}

function resultFits(wanted: When["result"], result: SeenResult): boolean {
  if (wanted === undefined) return true;
  return (wanted.tool === undefined || wanted.tool === result.tool) &&
    (wanted.outcome === undefined || [wanted.outcome].flat().includes(result.outcome)) &&
    (wanted.text === undefined || matches(wanted.text, result.text));
}

function matches(wanted: TextMatch, text: string): boolean {
  if (typeof wanted === "string") return text.includes(wanted);
  return [wanted.contains ?? []].flat().every((part) => text.includes(part)) &&
    (wanted.equals === undefined || text === wanted.equals) &&
    (wanted.startsWith === undefined || text.startsWith(wanted.startsWith)) &&
    ![wanted.lacks ?? []].flat().some((part) => text.includes(part));
}

function within(wanted: Nth | undefined, n: number): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === "number") return n === wanted;
  return n >= (wanted.from ?? 1) && n <= (wanted.to ?? Infinity);
}

// Building the response of a turn.

const CHARS_A_TOKEN = 4;

function countTokens(chars: number): number {
  return Math.ceil(chars / CHARS_A_TOKEN);
}

/** Tokens of a request: contents, calls and tool descriptions. */
function requestTokens({ messages, tools }: InferenceRequest): number {
  let chars = 0;
  for (const message of messages) chars += message.content.length + callChars(message.toolCalls);
  for (const tool of tools) {
    chars += tool.name.length + tool.description.length + tool.paramSchema.length;
  }
  return countTokens(chars);
}

/**
 * Builds the response. A text past `maxTokens` is cut and its calls dropped; a text ends before a stop
 * sequence; neither applies to a turn with `whole`. Throws `upstream` when a template quotes a missing text.
 */
function playTurn(
  turn: ScriptedTurn,
  view: View,
  request: InferenceRequest,
  source: string,
): InferenceResponse {
  const text = turn.say === undefined ? "" : renderText(turn.say, view);
  const said = turn.whole === true ? { text } : cut(text, request);
  const calls = said.finish === undefined ? makeCalls(turn, view, request.messages) : [];
  const finishReason = turn.finish ?? said.finish ?? (calls.length > 0 ? "toolCalls" : "stop");
  return {
    message: {
      role: "assistant",
      content: said.text,
      ...(calls.length > 0 ? { toolCalls: calls } : {}),
      provenance: readProvenance(request.messages, source),
    },
    usage: turn.usage ?? {
      inputTokens: requestTokens(request),
      outputTokens: countTokens(said.text.length + callChars(calls)),
    },
    finishReason,
  };
}

function cut(
  text: string,
  { maxTokens, stopSequences }: InferenceRequest,
): { readonly text: string; readonly finish?: FinishReason } {
  const stops = (stopSequences ?? []).map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  const stopped = stops.length > 0 ? text.slice(0, Math.min(...stops)) : text;
  const max = maxTokens * CHARS_A_TOKEN;
  if (stopped.length > max) return { text: stopped.slice(0, max), finish: "length" };
  return stops.length > 0 ? { text: stopped, finish: "stop" } : { text };
}

function makeCalls(
  { calls = [] }: ScriptedTurn,
  view: View,
  messages: readonly ChatMessage[],
): ToolCall[] {
  let next = highestId(messages);
  return calls.map(({ tool, args, raw, id }) => ({
    id: id ?? CallId.parse(`call_${++next}`),
    name: tool,
    arguments: raw === undefined
      ? JSON.stringify(renderValue(args ?? {}, view))
      : renderText(raw, view),
  }));
}

/** Ids continue from the highest in the conversation, so that they stay unique when old messages are dropped. */
function highestId(messages: readonly ChatMessage[]): number {
  let highest = 0;
  for (const { toolCalls = [] } of messages) {
    for (const { id } of toolCalls) {
      const number = id.startsWith("call_") ? Number(id.slice(5)) : NaN;
      if (Number.isSafeInteger(number) && number > highest) highest = number;
    }
  }
  return highest;
}

function callChars(calls: readonly ToolCall[] = []): number {
  return calls.reduce((chars, call) => chars + call.name.length + call.arguments.length, 0);
}

/** A tool result in the conversation. */
interface SeenResult {
  readonly tool: string;
  readonly outcome: Outcome;
  readonly text: string;
}

/** The conversation as conditions and templates see it. */
interface View {
  readonly system: string;
  /** The last user message, empty if there is none. */
  readonly user: string;
  /** Number of user messages. */
  readonly message: number;
  /** Number of this inference in the conversation, from 1. */
  readonly inference: number;
  /** Number of this inference since the last user message, from 1. */
  readonly step: number;
  /** Every tool result, oldest first. */
  readonly results: readonly SeenResult[];
  /** The results that answer the newest calls; none after a user message. */
  readonly fresh: readonly SeenResult[];
  /** Names of the advertised tools. */
  readonly offered: ReadonlySet<string>;
  /** The newest message. */
  readonly last: ChatMessage | undefined;
}

function viewOf(
  messages: readonly ChatMessage[],
  tools: readonly { readonly name: string }[],
): View {
  const system: string[] = [];
  const results: SeenResult[] = [];
  let user = "";
  let message = 0;
  let inference = 1;
  let step = 1;
  let fresh = 0;
  for (const each of messages) {
    switch (each.role) {
      case "system":
        system.push(each.content);
        break;
      case "user":
        user = each.content;
        message += 1;
        step = 1;
        fresh = results.length;
        break;
      case "assistant":
        inference += 1;
        step += 1;
        fresh = results.length;
        break;
      case "tool":
        results.push({
          tool: each.toolName ?? "",
          outcome: outcomeOf(each.content),
          text: each.content,
        });
    }
  }
  return {
    system: system.join("\n"),
    user,
    message,
    inference,
    step,
    results,
    fresh: results.slice(fresh),
    offered: new Set(tools.map((tool) => tool.name)),
    last: messages.at(-1),
  };
}

/** The runner begins a result that is not `ok` with `OUTCOME: REASON` (contracts/model/result_message.ts). */
function outcomeOf(content: string): Outcome {
  const colon = content.indexOf(": ");
  const outcome = colon < 0 ? undefined : Outcome.safeParse(content.slice(0, Math.min(colon, 32)));
  return outcome?.success === true ? outcome.data : "ok";
}
