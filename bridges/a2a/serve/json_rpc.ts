/**
 * The JSON-RPC binding: one POST for one answer or a stream. A2A 1.0, section 9. Used by server.ts
 * and rest.ts.
 * @module
 */
import { formatSSEEvent } from "@a2a-js/sdk";
import { A2AError } from "@a2a-js/sdk/errors";
import {
  type A2ARequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
} from "@a2a-js/sdk/server";
import { isObject, type Json } from "../../../contracts/base/json.ts";
import { isMethod, parseParams, readJson } from "./wire.ts";
import { checkContentType, checkVersion, HttpRefusal } from "./refusal.ts";
import type { Place } from "./streams.ts";

/** What both bindings need to answer a request. */
export interface Binding {
  readonly handler: A2ARequestHandler;
  /** Reserves a place for a stream; undefined where there is none. */
  place(): Place | undefined;
  /** Stops whatever the operation waits for. */
  stop(): void;
}

type Id = string | number | null;

/** Characters of a request's id, at most. */
const MAX_ID_CHARS = 256;
const INVALID_REQUEST = -32_600;
const UNAUTHENTICATED = -32_000;

/** Answers the request of a known caller. */
export async function answerJsonRpc(
  request: Request,
  body: Uint8Array | undefined,
  binding: Binding,
): Promise<Response> {
  if (request.method !== "POST") {
    return failed(null, { code: INVALID_REQUEST, message: "Only POST is served" }, 405, {
      allow: "POST",
    });
  }
  try {
    checkContentType(request, false);
  } catch (error) {
    return errorAnswer(null, error);
  }
  const read = readJson(body);
  if (!read.ok) {
    return read.why === "syntax"
      ? failed(null, { code: -32_700, message: "Invalid JSON payload" })
      : failed(null, { code: INVALID_REQUEST, message: WHY[read.why] });
  }
  const call = callOf(read.value);
  if (call === undefined) {
    return failed(null, { code: INVALID_REQUEST, message: "Request payload validation error" });
  }
  const { id, method } = call;
  try {
    checkVersion(request);
    if (!isMethod(method)) {
      return failed(id, { code: -32_601, message: "Method not found" });
    }
    const params = parseParams(method, call.params);
    return method === "SendStreamingMessage" || method === "SubscribeToTask"
      ? await stream(binding, { id, method, params })
      : await once(binding, { id, method, params });
  } catch (error) {
    return errorAnswer(id, error);
  }
}

interface Call {
  readonly id: Id;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

async function once({ handler }: Binding, call: Call): Promise<Response> {
  const trace = traced(handler);
  const answer = await new JsonRpcTransportHandler(trace.handler).handle(envelope(call), context());
  if (trace.failed() !== undefined) return errorAnswer(call.id, trace.failed());
  return Response.json(answer);
}

async function stream(binding: Binding, call: Call): Promise<Response> {
  const place = binding.place();
  if (place === undefined) throw new HttpRefusal(429, "Too many streams");
  let sent = false;
  try {
    const answer = await new JsonRpcTransportHandler(binding.handler)
      .handle(envelope(call), context());
    if (!(Symbol.asyncIterator in answer)) return Response.json(answer);
    const texts = answer[Symbol.asyncIterator]();
    const first = await texts.next();
    if (first.done === true) return Response.json({ jsonrpc: "2.0", id: call.id, result: {} });
    sent = true;
    return place.send(formatted(texts), formatSSEEvent(first.value), binding.stop);
  } finally {
    if (!sent) place.leave();
  }
}

function formatted<T>(events: AsyncGenerator<T, void, undefined>): AsyncIterator<string> {
  return {
    async next() {
      const { done, value } = await events.next();
      return done === true ? { done, value: undefined } : { value: formatSSEEvent(value) };
    },
  };
}

/**
 * Remembers what an operation threw. The SDK would answer with any error's message; {@link
 * errorAnswer} answers with the message of refusals alone, and with their status.
 */
function traced(
  handler: A2ARequestHandler,
): { readonly handler: A2ARequestHandler; failed(): unknown } {
  let failed: unknown;
  const keep =
    <A extends readonly unknown[], R>(does: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      try {
        return await does(...given);
      } catch (error) {
        failed = error;
        throw error;
      }
    };
  return {
    failed: () => failed,
    handler: {
      getAgentCard: keep(handler.getAgentCard),
      getAuthenticatedExtendedAgentCard: keep(handler.getAuthenticatedExtendedAgentCard),
      sendMessage: keep(handler.sendMessage),
      sendMessageStream: handler.sendMessageStream,
      getTask: keep(handler.getTask),
      cancelTask: keep(handler.cancelTask),
      createTaskPushNotificationConfig: keep(handler.createTaskPushNotificationConfig),
      getTaskPushNotificationConfig: keep(handler.getTaskPushNotificationConfig),
      listTaskPushNotificationConfigs: keep(handler.listTaskPushNotificationConfigs),
      deleteTaskPushNotificationConfig: keep(handler.deleteTaskPushNotificationConfig),
      resubscribe: handler.resubscribe,
      listTasks: keep(handler.listTasks),
    },
  };
}

/** The SDK's context of every call: the protocol's version. */
export function context(): ServerCallContext {
  return new ServerCallContext({ requestedVersion: "1.0" });
}

function envelope({ id, method, params }: Call): Record<string, unknown> {
  return { jsonrpc: "2.0", id, method, params };
}

const WHY = {
  tooLarge: "The request is larger or deeper than what is taken",
  key: "A key of the request is not taken",
} as const;

/** A JSON-RPC 2.0 request; undefined for anything else, such as a batch or a request without an id. */
function callOf(
  value: Json,
): { readonly id: Id; readonly method: string; readonly params: Json } | undefined {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return undefined;
  const { id, method, params = {} } = value;
  if (typeof method !== "string" || method === "" || method.length > 128) return undefined;
  if (typeof id === "string") return id.length > MAX_ID_CHARS ? undefined : { id, method, params };
  if (typeof id === "number") return Number.isSafeInteger(id) ? { id, method, params } : undefined;
  return id === null ? { id, method, params } : undefined;
}

/** The answer for an error; one that is no refusal of ours shows as an internal error. */
export function errorAnswer(id: Id, error: unknown): Response {
  if (error instanceof A2AError) {
    return failed(id, JsonRpcTransportHandler.mapToJSONRPCError(error));
  }
  if (!(error instanceof HttpRefusal)) {
    return failed(id, { code: -32_603, message: "Internal error" }, 500);
  }
  const { status, message } = error;
  const code = status === 401 ? UNAUTHENTICATED : -32_603;
  return failed(id, { code, message }, status);
}

function failed(
  id: Id,
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: "2.0", id, error }, { status, headers });
}
