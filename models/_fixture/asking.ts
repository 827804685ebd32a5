/** Asks a language model in a test, and collects everything that it sends. @module */
import assert from "node:assert/strict";
import type { ChatMessage } from "../../contracts/model/chat.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { ToolName } from "../../contracts/authority/ids.ts";
import {
  type InferenceRequest,
  InferenceResponse,
  type LanguageModel,
  StreamChunk,
} from "../../contracts/model/model.ts";
import type { ToolDescriptor } from "../../contracts/tool/tool.ts";

/** A person's text, on a trusted terminal. */
export const provenance = { origin: "person", colour: "BLUE", label: "internal" } as const;

/** A message of a person. */
export function said(content: string): ChatMessage {
  return { role: "user", content, provenance };
}

/** A tool with one text argument. */
export function tool(name: string): ToolDescriptor {
  return {
    name: ToolName.parse(name),
    description: `The tool ${name}.`,
    interfaceId: "test",
    methodName: name,
    paramSchema: JSON.stringify({
      type: "object",
      properties: { path: { type: "string", maxLength: 40 } },
      required: ["path"],
      additionalProperties: false,
    }),
    permission: "auto",
    category: "read",
  };
}

/** A request with `messages`; 64 tokens, no tools. */
export function requestOf(
  messages: readonly ChatMessage[],
  more: Partial<InferenceRequest> = {},
): InferenceRequest {
  return { messages: [...messages], tools: [], maxTokens: 64, nonce: "n", ...more };
}

/** An answer with its streamed parts. */
export interface Heard {
  readonly response: InferenceResponse;
  readonly text: string;
  readonly rationale: string;
  /** Arguments of each call, joined, by its id. */
  readonly calls: ReadonlyMap<string, { readonly name: string; readonly arguments: string }>;
}

/** Infers, and joins the chunks. Each chunk and the response must fit the contract. */
export async function hear(
  model: LanguageModel,
  request: InferenceRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Heard> {
  let text = "";
  let rationale = "";
  const calls = new Map<string, { name: string; arguments: string }>();
  const onChunk = (sent: StreamChunk): void => {
    const { textDelta = "", rationale: thought = "", toolCallDelta } = StreamChunk.parse(sent);
    text += textDelta;
    rationale += thought;
    if (toolCallDelta === undefined) return;
    const { id, name = "", arguments: args = "" } = toolCallDelta;
    assert.ok(id !== undefined, "a piece of a call says whose it is");
    const before = calls.get(id) ?? { name: "", arguments: "" };
    calls.set(id, { name: before.name + name, arguments: before.arguments + args });
  };
  const response = await model.infer(request, { onChunk, signal });
  return { response: InferenceResponse.parse(response), text, rationale, calls };
}

/** The fault that `promise` rejects with. */
export async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "it was not refused" });
}
