/**
 * The HTTP+JSON binding: methods and paths over the same operations. A2A 1.0, section 11. Used by
 * server.ts.
 * @module
 */
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
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import { type Method, parseParams, readJson } from "./wire.ts";
import {
  answerType,
  checkContentType,
  checkVersion,
  HttpRefusal,
  malformed,
  statusOf,
} from "./refusal.ts";
import { type Binding, context } from "./json_rpc.ts";
import type { Place } from "./streams.ts";

/** Answers the request of a known caller; `path` follows the interface's URL. */
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
    return await ANSWERERS[found.route.method](binding, params, request);
  } catch (error) {
    return restProblem(error);
  }
}

type Answerer = (
  binding: Binding,
  params: Record<string, unknown>,
  request: Request,
) => Promise<Response>;

/** An operation with one answer: `read` decodes its parameters, `write` encodes its answer. */
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

const ANSWERERS: Readonly<Record<Route["method"], Answerer>> = {
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

/** All four fields are always present; `artifacts` exactly where they were asked for. */
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

/** The answer for an error (AIP-193); one that is no refusal of ours shows as an internal error. */
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

/** A route: A2A 1.0, sections 5.3 and 11.3. */
interface Route {
  readonly method: Method;
  readonly verbs: readonly string[];
  /** The path; its groups are parameters. */
  readonly path: RegExp;
  /** Parameters in the order of the path's groups. */
  readonly names: readonly string[];
  readonly needsBody: boolean;
  /** Query parameters, and how each is parsed. */
  readonly query: Readonly<Record<string, "text" | "count" | "flag" | "state">>;
}

const ID = "([^/:]{1,512})";
const PUSH_PATH = `/tasks/${ID}/pushNotificationConfigs/([^/]{1,512})`;
const route = (
  method: Method,
  verbs: readonly string[],
  path: string,
  more: Partial<Pick<Route, "names" | "needsBody" | "query">> = {},
): Route => ({
  ...{ method, verbs, path: new RegExp(`^${path}$`) },
  ...{ names: [], needsBody: false, query: {}, ...more },
});

const ROUTES: readonly Route[] = [
  route("SendMessage", ["POST"], "/message:send", { needsBody: true }),
  route("SendStreamingMessage", ["POST"], "/message:stream", { needsBody: true }),
  route("ListTasks", ["GET"], "/tasks", {
    query: {
      ...{ contextId: "text", pageToken: "text", statusTimestampAfter: "text" },
      ...{ pageSize: "count", historyLength: "count", includeArtifacts: "flag", status: "state" },
    },
  }),
  route("CancelTask", ["POST"], `/tasks/${ID}:cancel`, { names: ["id"] }),
  // The specification's text says POST, its proto file GET.
  route("SubscribeToTask", ["GET", "POST"], `/tasks/${ID}:subscribe`, { names: ["id"] }),
  route("GetTask", ["GET"], `/tasks/${ID}`, { names: ["id"], query: { historyLength: "count" } }),
  route("CreateTaskPushNotificationConfig", ["POST"], `/tasks/${ID}/pushNotificationConfigs`, {
    ...{ names: ["taskId"], needsBody: true },
  }),
  route("ListTaskPushNotificationConfigs", ["GET"], `/tasks/${ID}/pushNotificationConfigs`, {
    ...{ names: ["taskId"], query: { pageSize: "count", pageToken: "text" } },
  }),
  route("GetTaskPushNotificationConfig", ["GET"], PUSH_PATH, { names: ["taskId", "id"] }),
  route("DeleteTaskPushNotificationConfig", ["DELETE"], PUSH_PATH, { names: ["taskId", "id"] }),
  route("GetExtendedAgentCard", ["GET"], "/extendedAgentCard"),
];

type Found =
  | { readonly kind: "found"; readonly route: Route; readonly given: readonly string[] }
  | { readonly kind: "otherMethod"; readonly allow: string }
  | { readonly kind: "none" };

function matchRoute(method: string, path: string): Found {
  const allow: string[] = [];
  for (const route of ROUTES) {
    const match = route.path.exec(path);
    if (match === null) continue;
    if (route.verbs.includes(method)) {
      const given = match.slice(1).map(decoded);
      return given.some((each) => each === undefined)
        ? { kind: "none" }
        : { kind: "found", route, given: given.map((each) => each ?? "") };
    }
    allow.push(...route.verbs);
  }
  return allow.length === 0 ? { kind: "none" } : { kind: "otherMethod", allow: allow.join(", ") };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** An operation's parameters: the body's, then the query's, then the path's, which win. */
function paramsOf(
  { route, given }: Extract<Found, { readonly kind: "found" }>,
  request: Request,
  body: Json,
): JsonObject {
  if (!isObject(body)) throw malformed("the body is no object");
  const query = new URL(request.url).searchParams;
  const params: Record<string, Json> = { ...body };
  for (const [name, how] of Object.entries(route.query)) {
    const values = query.getAll(name);
    const [value] = values;
    if (value === undefined || value === "") continue;
    if (values.length > 1) throw malformed(`${name}: more than once`);
    params[name] = readers[how](value, name);
  }
  if ((query.get("tenant") ?? "") !== "") throw malformed("tenant: there is none here");
  route.names.forEach((name, at) => params[name] = given[at] ?? "");
  return params;
}

const readers = {
  text: (value: string): Json => value,
  count(value: string, name: string): Json {
    if (!/^-?\d{1,10}$/.test(value)) throw malformed(`${name}: no number`);
    return Number(value);
  },
  flag(value: string, name: string): Json {
    if (value !== "true" && value !== "false") throw malformed(`${name}: true or false`);
    return value === "true";
  },
  /** `TASK_STATE_WORKING`, or `working` as in the specification's example. */
  state: (value: string): Json =>
    value.startsWith("TASK_STATE_")
      ? value
      : `TASK_STATE_${value.toUpperCase().replaceAll("-", "_").slice(0, 32)}`,
} as const;
