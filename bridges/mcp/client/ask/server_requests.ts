/** What a server may ask of us: folders, a person's input, an inference. Everything else is refused. @module */
import { type Client, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { isObject, type Json, type JsonObject } from "../../../../contracts/json.ts";
import type { McpElicit, McpOpen, McpRoot, McpSample } from "../../../../contracts/wire_mcp.ts";
import { parseJson } from "../../../../port/parse.ts";
import { formOf } from "./form.ts";
import { misfit } from "../tool/schema_check.ts";
import type { KernelSide } from "../kernel_side.ts";
import type { Odd } from "../violations.ts";

/** What answering takes. */
export interface AskParts {
  readonly open: Pick<McpOpen, "elicitation" | "sampling">;
  readonly kernel: Pick<KernelSide, "elicit" | "sample">;
  readonly roots: () => readonly McpRoot[];
  /** The call that a question is taken to belong to. */
  readonly call: () => string | undefined;
  readonly odd: Odd;
}

/** JSON-RPC's code for "the user rejected it", as the specification of sampling has it. */
const REJECTED = -1;

/** Wires what the server may ask into the SDK's client, before the handshake. */
export function serveAsks(client: Client, { open, kernel, roots, call, odd }: AskParts): void {
  const invalid = (why: string): ProtocolError => {
    odd(`It asked ${why}`);
    return new ProtocolError(ProtocolErrorCode.InvalidParams, `Refused: ${why}`);
  };
  const during = (): { readonly call?: string } => {
    const id = call();
    return id === undefined ? {} : { call: id };
  };

  client.setRequestHandler("roots/list", () => ({
    roots: roots().map(({ uri, name }) => ({ uri, name })),
  }));

  if (open.elicitation) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      // TRUST: from the server; the SDK has held it against the specification.
      const given = params as unknown as JsonObject;
      const url = given["mode"] === "url";
      const schema = url ? undefined : formOf(given["requestedSchema"]);
      if (!url && schema === undefined) throw invalid("a person for more than a flat form");
      const asked = readElicit(given, schema);
      if (asked === undefined) throw invalid("a person for something too long");
      const answer = await refusing(kernel.elicit({ ...during(), ...asked }));
      if (answer.action !== "accept" || url) return { action: answer.action };
      const content = parseJson(answer.content ?? "{}", { depth: 4 });
      if (!isObject(content) || misfit(schema ?? {}, content) !== undefined) {
        return { action: "cancel" };
      }
      return { action: "accept", content: content as Record<string, string> };
    });
  }

  if (open.sampling) {
    client.setRequestHandler("sampling/createMessage", async ({ params }) => {
      const given = params as unknown as JsonObject;
      if (given["tools"] !== undefined || given["toolChoice"] !== undefined) {
        throw invalid("a model with tools");
      }
      const asked = readSample(given);
      if (asked === undefined) throw invalid("a model for more than some text");
      const { model, text, stop } = await refusing(kernel.sample({ ...during(), ...asked }));
      const stopReason = stop === "endTurn" ? "endTurn" : "maxTokens";
      return { model, role: "assistant", content: { type: "text", text }, stopReason };
    });
  }
}

/** The server hears that it was refused, and not why. */
async function refusing<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch {
    throw new ProtocolError(REJECTED, "The user rejected the request");
  }
}

/** What a person is asked, or undefined for too much of it: the bounds of contracts/wire_mcp.ts. */
function readElicit(given: JsonObject, schema: JsonObject | undefined): McpElicit | undefined {
  const { message, url } = given;
  if (typeof message !== "string" || message.length > 8_192) return undefined;
  if (schema === undefined) {
    return typeof url === "string" && url.length <= 4_096 ? { message, url } : undefined;
  }
  const text = JSON.stringify(schema);
  return text.length <= 32_768 ? { message, schema: text } : undefined;
}

/** What a model is asked, or undefined for too much of it, or more than text. */
function readSample(given: JsonObject): McpSample | undefined {
  const { systemPrompt: system = "", maxTokens } = given;
  const list = Array.isArray(given["messages"]) ? given["messages"].slice(0, 101) : [];
  const messages = list.map(textOf).filter((message) => message !== undefined);
  if (typeof system !== "string" || system.length > 65_536) return undefined;
  if (messages.length !== list.length || list.length < 1 || list.length > 100) return undefined;
  if (typeof maxTokens !== "number" || !Number.isSafeInteger(maxTokens) || maxTokens < 1) {
    return undefined;
  }
  return { system, messages, maxTokens: Math.min(maxTokens, 1_000_000) };
}

function textOf(message: Json): McpSample["messages"][number] | undefined {
  if (!isObject(message)) return undefined;
  const { role, content } = message;
  const blocks = Array.isArray(content) ? content : [content];
  const texts = blocks.flatMap((block) =>
    isObject(block) && block["type"] === "text" && typeof block["text"] === "string"
      ? [block["text"]]
      : []
  );
  const text = texts.join("\n");
  if (texts.length !== blocks.length || text.length > 1_000_000) return undefined;
  return { role: role === "assistant" ? "assistant" : "user", text };
}
