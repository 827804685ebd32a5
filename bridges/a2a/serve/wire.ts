/**
 * Parses peers' requests with limits before the SDK reads them. Unknown fields are dropped, as the
 * specification asks (section 5.7). Both bindings use it.
 * @module
 */
import { isObject, type Json } from "../../../contracts/base/json.ts";
import { malformed, notTaken } from "./refusal.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { parseJson } from "../../../port/parse.ts";
import * as z from "zod";

/** A name, given by a peer or by us. */
const name = z.string().max(128);
const metadata = z.record(z.string().max(512), z.unknown()).nullish();
const bool = z.boolean().nullish();
const count = z.int().min(0).max(2_147_483_647).nullish();
/** An agent's tenant is part of its URLs' path; this agent has none. */
const tenant = z.literal("").nullish();

const Part = z.object({
  text: z.string().max(262_144).nullish(),
  raw: z.base64().max(1_400_000).nullish(),
  url: z.string().max(4_096).nullish(),
  data: z.unknown().optional(),
  metadata,
  filename: z.string().max(256).nullish(),
  mediaType: z.string().max(128).nullish(),
});

const Message = z.object({
  messageId: z.string().regex(/^[\x21-\x7e]{1,128}$/, "1 to 128 visible ASCII characters"),
  role: z.union([z.literal("ROLE_USER"), z.literal(1)]),
  parts: z.array(Part).min(1).max(64),
  contextId: name.regex(/^[\x21-\x7e]*$/, "visible ASCII characters").nullish(),
  taskId: name.nullish(),
  metadata,
  extensions: z.array(z.string().max(512)).max(16).nullish(),
  referenceTaskIds: z.array(name).max(16).nullish(),
});

const PushConfig = z.object({
  tenant,
  id: name.nullish(),
  taskId: name.nullish(),
  url: z.string().max(2_048).regex(/^https?:\/\//, "an http or https URL"),
  token: z.string().max(1_024).nullish(),
  authentication: z.object({
    scheme: z.string().min(1).max(64),
    credentials: z.string().max(4_096).nullish(),
  }).nullish(),
});

const Send = z.object({
  tenant,
  message: Message,
  configuration: z.object({
    acceptedOutputModes: z.array(z.string().max(128)).max(64).nullish(),
    taskPushNotificationConfig: PushConfig.nullish(),
    historyLength: count,
    returnImmediately: bool,
  }).nullish(),
  metadata,
});

const ofTask = { tenant, id: name.min(1) };
const ofPush = { tenant, taskId: name.min(1), id: name.min(1) };

const STATES = [
  "UNSPECIFIED",
  "SUBMITTED",
  "WORKING",
  "COMPLETED",
  "FAILED",
  "CANCELED",
  "INPUT_REQUIRED",
  "REJECTED",
  "AUTH_REQUIRED",
] as const;

const List = z.object({
  tenant,
  contextId: name.nullish(),
  status: z.enum(STATES.map((each) => `TASK_STATE_${each}` as const)).nullish(),
  pageSize: z.int().min(1).max(100).nullish(),
  pageToken: name.nullish(),
  historyLength: count,
  statusTimestampAfter: z.iso.datetime({ offset: true }).nullish(),
  includeArtifacts: bool,
});

const PARAMS = {
  SendMessage: Send,
  SendStreamingMessage: Send,
  GetTask: z.object({ ...ofTask, historyLength: count }),
  ListTasks: List,
  CancelTask: z.object({ ...ofTask, metadata }),
  SubscribeToTask: z.object(ofTask),
  CreateTaskPushNotificationConfig: PushConfig.extend({ taskId: name.min(1) }),
  GetTaskPushNotificationConfig: z.object(ofPush),
  DeleteTaskPushNotificationConfig: z.object(ofPush),
  ListTaskPushNotificationConfigs: z.object({
    tenant,
    taskId: name.min(1),
    pageSize: count,
    pageToken: name.nullish(),
  }),
  GetExtendedAgentCard: z.object({ tenant }),
} as const;

/** A method of the protocol. */
export type Method = keyof typeof PARAMS;

/** Whether `name` is a method of the protocol. */
export function isMethod(name: string): name is Method {
  return Object.hasOwn(PARAMS, name);
}

/** Limits of a request's JSON. */
const REQUEST_LIMITS = { frameBytes: 4 * 1_048_576, depth: 32, nodes: 100_000 } as const;

/**
 * Parses the parameters of a method; only known fields remain.
 * @throws {RequestMalformedError} with the place; `ContentTypeNotSupportedError` for an unknown
 * kind of part.
 */
export function parseParams(method: Method, given: Json): Record<string, unknown> {
  const params = inCamelCase(given);
  if (method === "SendMessage" || method === "SendStreamingMessage") {
    const send = Send.safeParse(params);
    if (!send.success) throw malformed(placeOf(send.error));
    send.data.message.parts.forEach(oneKind);
    return send.data;
  }
  const read = PARAMS[method].safeParse(params);
  if (!read.success) throw malformed(placeOf(read.error));
  return read.data;
}

function oneKind(part: z.infer<typeof Part>, at: number): void {
  const kinds = [part.text, part.raw, part.url, part.data].filter((each) =>
    each !== undefined && each !== null
  );
  if (kinds.length === 0) throw notTaken(`the kind of part ${at}`);
  if (kinds.length > 1) throw malformed(`message.parts.${at}: more than one kind of content`);
}

/** The place of the first fault. The value is not repeated. */
function placeOf(error: z.ZodError): string {
  const [first] = error.issues;
  if (first === undefined) return "they do not fit";
  const path = first.path.slice(0, 8).map((each) => String(each).slice(0, 64)).join(".");
  return `${path === "" ? "parameters" : path}: ${first.message.slice(0, 160)}`;
}

/** Fields that hold messages of the protocol; keys of all other values are the peer's own. */
const NESTED: ReadonlySet<string> = new Set([
  "message",
  "parts",
  "configuration",
  "taskPushNotificationConfig",
  "authentication",
]);
const SNAKE = /^[a-z]{1,32}(?:_[a-z]{1,32}){1,4}$/;

/**
 * Converts names to camel case: both `historyLength` and `history_length` are read. A2A 1.0,
 * section 5.5.
 * @throws {RequestMalformedError} when one is given both ways.
 */
function inCamelCase(value: Json): Json {
  if (Array.isArray(value)) return value.map(inCamelCase);
  if (!isObject(value)) return value;
  const named = new Map<string, Json>();
  for (const [key, inner] of Object.entries(value)) {
    const name = SNAKE.test(key)
      ? key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      : key;
    if (named.has(name)) throw malformed(`${name}: given twice`);
    named.set(name, NESTED.has(name) ? inCamelCase(inner) : inner);
  }
  return Object.fromEntries(named);
}

/** Why a body is refused. */
type BodyFault = "syntax" | "tooLarge" | "key";

type ReadBody =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly why: BodyFault };

/** Parses a body: bounded JSON in UTF-8 without repeated keys and without `__proto__`. */
export function readJson(bytes: Uint8Array | undefined): ReadBody {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return { ok: false, why: "syntax" };
    throw error;
  }
  try {
    const value = parseJson(text, REQUEST_LIMITS);
    // A text search first, so that only suspicious bodies are walked.
    if (PROTOTYPE.test(text) && namesPrototype(value)) return { ok: false, why: "key" };
    // JSON can escape half a surrogate pair; UTF-8 cannot hold it, and later code does not expect
    // it.
    if (LONE_SURROGATE.test(text) && holdsLoneSurrogate(value)) {
      return { ok: false, why: "syntax" };
    }
    return { ok: true, value };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { ok: false, why: error.code === "tooLarge" ? "tooLarge" : "syntax" };
  }
}

/** Finds the word also where its letters are escaped. */
const PROTOTYPE = /__proto__|\\u00/i;

const LONE_SURROGATE = /\\ud[89a-f]/i;

function holdsLoneSurrogate(value: Json): boolean {
  if (typeof value === "string") return !value.isWellFormed();
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsLoneSurrogate);
  return Object.entries(value).some(([key, inner]) =>
    !key.isWellFormed() || holdsLoneSurrogate(inner)
  );
}

function namesPrototype(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(namesPrototype);
  return Object.entries(value).some(([key, inner]) => key === "__proto__" || namesPrototype(inner));
}
