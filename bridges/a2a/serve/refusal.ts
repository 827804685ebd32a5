/**
 * What a peer is told when something cannot be: one table over the faults, in words that hold nothing of ours. Unknown and
 * forbidden are one answer. A2A 1.0, sections 3.3.2 and 5.4.
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
} from "@a2a-js/sdk/errors";
import { Fault, type FaultCode } from "../../../contracts/fault.ts";

/** What was asked of the starter. */
export type Asked = "card" | "send" | "get" | "list" | "cancel" | "watch" | "push";

/** A refusal that A2A has no name for; it has a status of HTTP. */
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

/** What a peer is told of `error`, which came of asking for `asked`. */
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

/** How a refusal reads over HTTP+JSON: status, and its name in google.rpc.Code. */
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

/** Section 5.4. The SDK's own table answers 400 where the specification says 409, 415 and 502. */
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

/** One answer for a task that there is not and for one of somebody else's. */
export function taskNotFound(): TaskNotFoundError {
  return new TaskNotFoundError("The task does not exist or is not accessible");
}

/** A request that does not parse, with the place. */
export function malformed(why: string): RequestMalformedError {
  return new RequestMalformedError(`Invalid parameters: ${why}`);
}

/** A media type or kind of part that is not taken. */
export function notTaken(what: string): ContentTypeNotSupportedError {
  return new ContentTypeNotSupportedError(`Not supported: ${what}`);
}
