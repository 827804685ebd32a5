/**
 * Refusals for peers: one table over all faults, in words that reveal nothing of ours. Unknown and
 * forbidden give the same answer. A2A 1.0, sections 3.3.2 and 5.4.
 * @module
 */
import {
  A2AError,
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from "@a2a-js/sdk/errors";
import { Fault, type FaultCode } from "../../../contracts/base/fault.ts";
import { A2A_CONTENT_TYPE, A2A_VERSION_HEADER, HTTP_EXTENSION_HEADER } from "@a2a-js/sdk";

/** The operation that was asked of the starter. */
export type Asked = "card" | "send" | "get" | "list" | "cancel" | "watch" | "push";

/** A refusal without an error of A2A; it has an HTTP status. */
export class HttpRefusal extends Error {
  /** Status of the response. */
  readonly status: 401 | 429 | 500 | 503;

  constructor(status: 401 | 429 | 500 | 503, message: string) {
    super(message);
    this.name = "HttpRefusal";
    this.status = status;
  }
}

type Kind =
  | "unauthenticated"
  | "notFound"
  | "conflict"
  | "malformed"
  | "tooLarge"
  | "refused"
  | "busy"
  | "unavailable"
  | "broken";

const KIND = {
  badFrame: "broken",
  tooLarge: "tooLarge",
  invalidInput: "malformed",
  invalidArguments: "malformed",
  unknownTool: "broken",
  unknownCapability: "broken",
  notFound: "notFound",
  alreadyExists: "conflict",
  refused: "refused",
  denied: "unauthenticated",
  stepUpFailed: "refused",
  needsApproval: "refused",
  contaminated: "refused",
  clearance: "refused",
  leaseExpired: "refused",
  leaseRevoked: "refused",
  budgetExhausted: "busy",
  rateLimited: "busy",
  contextOverflow: "tooLarge",
  conflict: "conflict",
  cancelled: "unavailable",
  timedOut: "unavailable",
  upstream: "unavailable",
  gone: "unavailable",
  storeFull: "unavailable",
  storeCorrupt: "unavailable",
  unavailable: "unavailable",
  lowConfidence: "broken",
} as const satisfies Record<FaultCode, Kind>;

/** The refusal for an error of the operation `asked`. */
export function refusalOf(error: unknown, asked: Asked): Error {
  if (error instanceof A2AError || error instanceof HttpRefusal) return error;
  const kind: Kind = error instanceof Fault ? KIND[error.code] : "broken";
  switch (kind) {
    case "unauthenticated":
      return new HttpRefusal(401, "A token is needed");
    case "notFound":
      return taskNotFound();
    case "conflict":
      return asked === "cancel"
        ? new TaskNotCancelableError("The task is over: it cannot be canceled")
        : new UnsupportedOperationError("The state of the task does not allow this");
    case "malformed":
      return new RequestMalformedError("The request does not fit the task or its context");
    case "tooLarge":
      return new RequestMalformedError("The request is larger than what is taken");
    case "refused":
      return asked === "push"
        ? new PushNotificationNotSupportedError("Deliveries to this address are not served")
        : new UnsupportedOperationError("This is not served to this peer");
    case "busy":
      return new HttpRefusal(429, "Too much is under way: try again later");
    case "unavailable":
      return new HttpRefusal(503, "Not available at the moment: try again later");
    case "broken":
      return new HttpRefusal(500, "Internal error");
  }
}

/** A refusal's HTTP status, and its name in google.rpc.Code. */
export function statusOf(error: Error): { readonly status: number; readonly name: string } {
  if (error instanceof HttpRefusal) {
    const { status } = error;
    return { status, name: HTTP_NAMES[status] };
  }
  return error instanceof A2AError
    ? STATUSES[error.name] ?? { status: 500, name: "INTERNAL" }
    : { status: 500, name: "INTERNAL" };
}

const HTTP_NAMES = {
  401: "UNAUTHENTICATED",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
} as const;

/** Section 5.4. The SDK's own table has 400 where the specification has 409, 415 and 502. */
const STATUSES: Readonly<Record<string, { readonly status: number; readonly name: string }>> = {
  TaskNotFoundError: { status: 404, name: "NOT_FOUND" },
  TaskNotCancelableError: { status: 409, name: "FAILED_PRECONDITION" },
  PushNotificationNotSupportedError: { status: 400, name: "UNIMPLEMENTED" },
  UnsupportedOperationError: { status: 400, name: "UNIMPLEMENTED" },
  ContentTypeNotSupportedError: { status: 415, name: "INVALID_ARGUMENT" },
  InvalidAgentResponseError: { status: 502, name: "INTERNAL" },
  ExtendedAgentCardNotConfiguredError: { status: 400, name: "FAILED_PRECONDITION" },
  ExtensionSupportRequiredError: { status: 400, name: "FAILED_PRECONDITION" },
  VersionNotSupportedError: { status: 400, name: "UNIMPLEMENTED" },
  RequestMalformedError: { status: 400, name: "INVALID_ARGUMENT" },
};

/** The same answer for a missing task and for another peer's. */
export function taskNotFound(): TaskNotFoundError {
  return new TaskNotFoundError("The task does not exist or is not accessible");
}

/** The refusal of a request that does not parse, with the place. */
export function malformed(why: string): RequestMalformedError {
  return new RequestMalformedError(`Invalid parameters: ${why}`);
}

/** The refusal of a media type or kind of part. */
export function notTaken(what: string): ContentTypeNotSupportedError {
  return new ContentTypeNotSupportedError(`Not supported: ${what}`);
}

/** The supported version (A2A 1.0, section 3.6); the patch number does not matter. */
const VERSION = /^1\.0(?:\.\d{1,4})?$/;
/** Characters of the list of extensions, at most. */
const MAX_EXTENSIONS_CHARS = 4_096;
/** Supported extensions: a message that is sent again in its context is answered as the first time. */
const SUPPORTED_EXTENSIONS: readonly string[] = ["urn:remit:a2a:once"];

/**
 * Refuses a request of an unsupported version.
 * @throws {VersionNotSupportedError} also without a version, which stands for 0.3.
 */
export function checkVersion(request: Request): void {
  const asked = request.headers.get(A2A_VERSION_HEADER) ??
    new URL(request.url).searchParams.get(A2A_VERSION_HEADER) ?? "";
  if (!VERSION.test(asked.trim())) {
    throw new VersionNotSupportedError("This version is not supported; supported: 1.0");
  }
  if ((request.headers.get(HTTP_EXTENSION_HEADER) ?? "").length > MAX_EXTENSIONS_CHARS) {
    throw malformed(`${HTTP_EXTENSION_HEADER}: longer than ${MAX_EXTENSIONS_CHARS}`);
  }
}

/** Names the requested extensions that are supported. */
export function withExtensions(request: Request, response: Response): Response {
  const asked = (request.headers.get(HTTP_EXTENSION_HEADER) ?? "").slice(0, MAX_EXTENSIONS_CHARS)
    .split(",");
  const active = SUPPORTED_EXTENSIONS.filter((each) => asked.some((one) => one.trim() === each));
  if (active.length > 0) response.headers.set(HTTP_EXTENSION_HEADER, active.join(", "));
  return response;
}

/**
 * Refuses a body that is neither `application/json` nor, with `rest`, A2A's own media type.
 * @throws {ContentTypeNotSupportedError}
 */
export function checkContentType(request: Request, rest: boolean): void {
  const type = request.headers.get("content-type");
  const plain = type?.split(";", 1)[0]?.trim().toLowerCase();
  if (plain === "application/json" || (rest && plain === A2A_CONTENT_TYPE)) return;
  throw notTaken(
    rest
      ? `this Content-Type; expected application/json or ${A2A_CONTENT_TYPE}`
      : "this Content-Type; expected application/json",
  );
}

/** The media type of the answer: A2A's own if the client accepts that and no plain JSON. */
export function answerType(request: Request): string {
  const accept = (request.headers.get("accept") ?? "").toLowerCase();
  return accept.includes(A2A_CONTENT_TYPE) && !accept.includes("application/json")
    ? A2A_CONTENT_TYPE
    : "application/json";
}
