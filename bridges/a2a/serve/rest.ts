/** The binding HTTP+JSON: methods and paths over the same operations. A2A 1.0, section 11. @module */
import {
  AgentCard,
  CancelTaskRequest,
  formatSSEEvent,
  GetTaskRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import { A2AError } from "@a2a-js/sdk/errors";
import { type A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import type { Json } from "../../../contracts/json.ts";
import { readJson } from "./body.ts";
import { answerType, checkContentType, checkVersion } from "./headers.ts";
import type { Binding } from "./json_rpc.ts";
import { HttpRefusal, malformed, statusOf } from "./refusal.ts";
import { matchRoute, paramsOf, type Route } from "./rest_routes.ts";
import type { Place } from "./streams.ts";
import { parseParams } from "./wire.ts";

/** Answers a request whose caller is known; `path` is what follows the interface's URL. */
export async function answerRest(
  request: Request,
  body: Uint8Array | undefined,
  binding: Binding & { readonly path: string },
): Promise<Response> {
  try {
    const found = matchRoute(request.method, binding.path);
    if (found.kind === "none") return problem(404, "NOT_FOUND", "There is nothing here");
    if (found.kind === "otherMethod") {
      return problem(405, "UNIMPLEMENTED", "This method is not served", { allow: found.allow });
    }
    checkVersion(request);
    const given = bodyOf(request, body, found.route);
    const params = parseParams(found.route.method, paramsOf(found, request, given));
    return await ROUTES[found.route.method](binding, params, request);
  } catch (error) {
    return restProblem(error);
  }
}

type Answerer = (
  binding: Binding,
  params: Record<string, unknown>,
  request: Request,
) => Promise<Response>;

/** An operation with one answer: `read` decodes what is asked, `write` encodes what is answered. */
function once<Q, A>(
  read: { fromJSON(params: Record<string, unknown>): Q },
  does: (handler: A2ARequestHandler) => (asked: Q, context: ServerCallContext) => Promise<A>,
  write: (answer: A, params: Record<string, unknown>) => unknown,
): Answerer {
  return async ({ handler }, params, request) => {
    const answer = await does(handler)(read.fromJSON(params), context());
    return Response.json(write(answer, params), {
      headers: { "content-type": answerType(request) },
    });
  };
}

function streamed<Q>(
  read: { fromJSON(params: Record<string, unknown>): Q },
  does: (
    handler: A2ARequestHandler,
  ) => (asked: Q, context: ServerCallContext) => AsyncGenerator<StreamResponse, void, undefined>,
): Answerer {
  return async ({ handler, place: take, stop }, params) => {
    const place = take();
    if (place === undefined) throw new HttpRefusal(429, "Too many streams");
    return await send(place, does(handler)(read.fromJSON(params), context()), stop);
  };
}

async function send(
  place: Place,
  events: AsyncGenerator<StreamResponse, void, undefined>,
  stop: () => void,
): Promise<Response> {
  let sent = false;
  try {
    const first = await events.next();
    if (first.done === true) throw new HttpRefusal(500, "Internal error");
    sent = true;
    return place.send(
      {
        async next() {
          const { done, value } = await events.next();
          return done === true ? { done, value: undefined } : { value: textOf(value) };
        },
      },
      textOf(first.value),
      stop,
    );
  } finally {
    if (!sent) place.leave();
  }
}

function textOf(event: StreamResponse): string {
  return formatSSEEvent(StreamResponse.toJSON(event));
}

const ROUTES: Readonly<Record<Route["method"], Answerer>> = {
  SendMessage: once(
    SendMessageRequest,
    (handler) => handler.sendMessage,
    (answer) =>
      "messageId" in answer ? { message: Message.toJSON(answer) } : { task: Task.toJSON(answer) },
  ),
  SendStreamingMessage: streamed(SendMessageRequest, (handler) => handler.sendMessageStream),
  GetTask: once(GetTaskRequest, (handler) => handler.getTask, Task.toJSON),
  ListTasks: once(ListTasksRequest, (handler) => handler.listTasks, listText),
  CancelTask: once(CancelTaskRequest, (handler) => handler.cancelTask, Task.toJSON),
  SubscribeToTask: streamed(
    { fromJSON: ({ id }) => ({ id: String(id), tenant: "" }) },
    (handler) => handler.resubscribe,
  ),
  CreateTaskPushNotificationConfig: once(
    TaskPushNotificationConfig,
    (handler) => handler.createTaskPushNotificationConfig,
    TaskPushNotificationConfig.toJSON,
  ),
  GetTaskPushNotificationConfig: once(
    { fromJSON: pushPlace },
    (handler) => handler.getTaskPushNotificationConfig,
    TaskPushNotificationConfig.toJSON,
  ),
  DeleteTaskPushNotificationConfig: once(
    { fromJSON: pushPlace },
    (handler) => handler.deleteTaskPushNotificationConfig,
    () => ({}),
  ),
  ListTaskPushNotificationConfigs: once(
    {
      fromJSON: ({ taskId }) => ({
        taskId: String(taskId),
        tenant: "",
        pageSize: 0,
        pageToken: "",
      }),
    },
    (handler) => handler.listTaskPushNotificationConfigs,
    ListTaskPushNotificationConfigsResponse.toJSON,
  ),
  GetExtendedAgentCard: once(
    { fromJSON: () => ({ tenant: "" }) },
    (handler) => handler.getAuthenticatedExtendedAgentCard,
    AgentCard.toJSON,
  ),
};

function pushPlace({ taskId, id }: Record<string, unknown>) {
  return { taskId: String(taskId), id: String(id), tenant: "" };
}

/** All four fields are always there; artifacts only where they were asked for, and then always. */
function listText(answer: ListTasksResponse, params: Record<string, unknown>): unknown {
  const { tasks, nextPageToken, pageSize, totalSize } = answer;
  const written = tasks.map((task) => ({
    ...params["includeArtifacts"] === true ? { artifacts: [] } : {},
    ...asObject(Task.toJSON(task)),
  }));
  return { tasks: written, nextPageToken, pageSize, totalSize };
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

function context(): ServerCallContext {
  return new ServerCallContext({ requestedVersion: "1.0" });
}

function bodyOf(request: Request, body: Uint8Array | undefined, route: Route): Json {
  const empty = body === undefined || body.length === 0;
  if (request.method !== "POST" || (empty && !route.needsBody)) return {};
  checkContentType(request, true);
  const read = readJson(body);
  if (!read.ok) throw malformed(WHY[read.why]);
  return read.value;
}

const WHY = {
  syntax: "the body is no JSON",
  tooLarge: "the body is larger or deeper than what is taken",
  key: "a key of the body is not taken",
} as const;

/** The answer that tells `error` (AIP-193). What is no refusal of ours is told as nothing but an error. */
export function restProblem(error: unknown): Response {
  if (!(error instanceof A2AError) && !(error instanceof HttpRefusal)) {
    return problem(500, "INTERNAL", "Internal error");
  }
  const { status, name } = statusOf(error);
  const details = error instanceof A2AError ? [error.toErrorInfo()] : [];
  return problem(status, name, error.message, {}, details);
}

function problem(
  code: number,
  status: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  details: readonly unknown[] = [],
): Response {
  return Response.json({ error: { code, status, message, details } }, { status: code, headers });
}
