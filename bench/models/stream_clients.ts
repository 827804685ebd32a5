/** Clients of one streamed answer: bare, the AI SDK's own, and a real model service's. @module */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { sha256Hex } from "../../port/digest.ts";
import type { ModelServices } from "../../kernel/power/model/services.ts";
import { NEVER, question, workspaceTools } from "./service.ts";

/** One answer: milliseconds from asking to the first text and to the end. */
export interface StreamTimes {
  readonly first: number;
  readonly total: number;
  readonly deltas: number;
}

/** Asks once, and hears it all. */
export type StreamClient = () => Promise<StreamTimes>;

const CONTENT = "Read the notes of the last meeting and write down what was decided. ".repeat(40);
const TOOLS = workspaceTools();

function clock(): { readonly hear: () => void; readonly end: () => StreamTimes } {
  const from = performance.now();
  let [first, deltas] = [NaN, 0];
  return {
    hear(): void {
      if (deltas++ === 0) first = performance.now() - from;
    },
    end: () => ({ first, total: performance.now() - from, deltas }),
  };
}

/** `fetch`, and a reader of events as short as one can be. */
export function bareClient(origin: string): StreamClient {
  const body = JSON.stringify({
    model: "bench",
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: "user", content: CONTENT }],
    max_tokens: 1_024,
    tools: TOOLS.map(({ name, description, paramSchema }) => ({
      type: "function",
      function: { name, description, parameters: JSON.parse(paramSchema) },
    })),
  });
  return async () => {
    const { hear, end } = clock();
    const answer = await fetch(`${origin}/v1/chat/completions`, { method: "POST", body });
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of answer.body ?? []) {
      const events = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) {
        if (event === "data: [DONE]") continue;
        const { choices } = JSON.parse(event.slice("data: ".length));
        const text: unknown = choices[0]?.delta.content;
        if (typeof text === "string" && text !== "") hear();
      }
    }
    return end();
  };
}

/** The AI SDK's model, without its loop over tools. */
export function sdkClient(origin: string): StreamClient {
  const model = createOpenAICompatible({
    name: "openai",
    baseURL: `${origin}/v1`,
    includeUsage: true,
  }).chatModel("bench");
  return async () => {
    const { hear, end } = clock();
    const { stream } = await model.doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: CONTENT }] }],
      maxOutputTokens: 1_024,
      tools: TOOLS.map(({ name, description, paramSchema }) => ({
        type: "function",
        name,
        description,
        inputSchema: JSON.parse(paramSchema),
      })),
    });
    for await (const part of stream) if (part.type === "text-delta") hear();
    return end();
  };
}

/** As a session of the kernel asks: through a real service in its namespace. */
export async function serviceClient(
  services: ModelServices,
  origin: string,
): Promise<StreamClient> {
  const url = `${origin}/v1`;
  const model = await services.provide({
    ref: `openai:bench@${url}`,
    config: JSON.stringify({ model: "bench", url }),
  });
  const request = question(CONTENT, { tools: TOOLS });
  const table = sha256Hex(JSON.stringify(TOOLS));
  return async () => {
    const { hear, end } = clock();
    await model.infer(request, {
      signal: NEVER,
      table,
      onChunk: ({ textDelta }) => {
        if (textDelta !== undefined) hear();
      },
    });
    return end();
  };
}
