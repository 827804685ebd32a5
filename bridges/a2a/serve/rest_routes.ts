/** Paths of HTTP+JSON and what they name. Pure. A2A 1.0, sections 5.3 and 11.3. @module */
import { isObject, type Json, type JsonObject } from "../../../contracts/json.ts";
import { malformed } from "./refusal.ts";
import type { Method } from "./wire.ts";

/** One operation at a path. */
export interface Route {
  readonly method: Method;
  readonly verbs: readonly string[];
  /** Segments; those that begin with `:` are names of parameters, and `:cancel` after a name is a verb of its own. */
  readonly path: RegExp;
  /** Parameters in the order of the path's groups. */
  readonly names: readonly string[];
  readonly needsBody: boolean;
  /** Query parameters that are read, with how. */
  readonly query: Readonly<Record<string, "text" | "count" | "flag" | "state">>;
}

const ID = "([^/:]{1,512})";
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
  // The specification's text says POST, its proto GET.
  route("SubscribeToTask", ["GET", "POST"], `/tasks/${ID}:subscribe`, { names: ["id"] }),
  route("GetTask", ["GET"], `/tasks/${ID}`, { names: ["id"], query: { historyLength: "count" } }),
  route("CreateTaskPushNotificationConfig", ["POST"], `/tasks/${ID}/pushNotificationConfigs`, {
    ...{ names: ["taskId"], needsBody: true },
  }),
  route("ListTaskPushNotificationConfigs", ["GET"], `/tasks/${ID}/pushNotificationConfigs`, {
    ...{ names: ["taskId"], query: { pageSize: "count", pageToken: "text" } },
  }),
  route(
    "GetTaskPushNotificationConfig",
    ["GET"],
    `/tasks/${ID}/pushNotificationConfigs/([^/]{1,512})`,
    {
      names: ["taskId", "id"],
    },
  ),
  route(
    "DeleteTaskPushNotificationConfig",
    ["DELETE"],
    `/tasks/${ID}/pushNotificationConfigs/([^/]{1,512})`,
    {
      names: ["taskId", "id"],
    },
  ),
  route("GetExtendedAgentCard", ["GET"], "/extendedAgentCard"),
];

/** What a method and path name. */
export type Found =
  | { readonly kind: "found"; readonly route: Route; readonly given: readonly string[] }
  | { readonly kind: "otherMethod"; readonly allow: string }
  | { readonly kind: "none" };

/** Finds it. */
export function matchRoute(method: string, path: string): Found {
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

/** Parameters of an operation: those of the body, then the query's, then the path's, which nothing overrides. */
export function paramsOf(
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
  /** `TASK_STATE_WORKING`, and as the specification's example writes it: `working`. */
  state: (value: string): Json =>
    value.startsWith("TASK_STATE_")
      ? value
      : `TASK_STATE_${value.toUpperCase().replaceAll("-", "_").slice(0, 32)}`,
} as const;
