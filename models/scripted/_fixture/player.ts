import type { ChatMessage } from "../../../contracts/model/chat.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { CallId } from "../../../contracts/authority/ids.ts";
import type {
  InferenceRequest,
  InferenceResponse,
  StreamChunk,
} from "../../../contracts/model/model.ts";
import { makeScripted } from "../open.ts";
import { parseScenario } from "../scenario.ts";

const provenance = { origin: "person", colour: "BLUE", label: "internal" } as const;

/** A message of text alone. */
export function say(role: ChatMessage["role"], content: string): ChatMessage {
  return { role, content, provenance };
}

/** An assistant message with one call, and its result. */
export function exchange(id: string, tool: string, content: string): readonly ChatMessage[] {
  const call = { id: CallId.parse(id), name: tool, arguments: "{}" };
  return [
    { ...say("assistant", ""), toolCalls: [call] },
    { ...say("tool", content), toolCallId: call.id, toolName: tool },
  ];
}

/** A request over messages. */
export function requestOf(
  messages: readonly ChatMessage[],
  more: Partial<InferenceRequest> = {},
): InferenceRequest {
  return { messages: [...messages], tools: [], maxTokens: 1_000, nonce: "n", ...more };
}

/** The outcome of one inference of a scenario. */
export interface Played {
  readonly response: InferenceResponse | undefined;
  readonly fault: Fault | undefined;
  readonly chunks: readonly StreamChunk[];
  /** The lengths of waits, in milliseconds, in order. */
  readonly waits: readonly number[];
}

/** Plays the scenarios of a test: one model, a hand-turned clock. */
export function player(
  yaml: string,
): (messages: readonly ChatMessage[], more?: Partial<InferenceRequest>) => Promise<Played> {
  const waits: number[] = [];
  const model = makeScripted(parseScenario(yaml, "test.yaml"), {
    wait: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
  });
  return async (messages, more) => {
    const chunks: StreamChunk[] = [];
    waits.length = 0;
    const signal = new AbortController().signal;
    const onChunk = (chunk: StreamChunk): void => {
      chunks.push(chunk);
    };
    try {
      const response = await model.infer(requestOf(messages, more), { signal, onChunk });
      return { response, fault: undefined, chunks, waits: [...waits] };
    } catch (fault) {
      if (!(fault instanceof Fault)) throw fault;
      return { response: undefined, fault, chunks, waits: [...waits] };
    }
  };
}

/** The text of a response. */
export async function textOf(played: Promise<Played>): Promise<string | undefined> {
  return (await played).response?.message.content;
}
