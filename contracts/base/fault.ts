/**
 * Faults: expected refusals, from one closed list, that cross a port as data.
 * A bug throws a built-in error instead and ends its task.
 * @module
 */
import type { JsonObject } from "./json.ts";

/** Every fault code there is. Bridges map each of them (`Record<FaultCode, …>`). */
export const FAULT_CODES = [
  "badFrame", // a peer broke the port's protocol
  "tooLarge", // a size, depth, count or rate limit was passed
  "invalidInput", // input from a person or program that does not parse
  "invalidArguments", // tool arguments that do not fit their schema
  "unknownTool", // not advertised, or made against a stale snapshot
  "unknownCapability", // a handle that was never handed over
  "notFound",
  "alreadyExists",
  "refused", // policy, capability or never-list
  "denied", // a person said no
  "stepUpFailed",
  "needsApproval", // waits for a person
  "contaminated", // colour below what the effect needs, under `strict`
  "clearance", // label above what the sink is cleared for
  "leaseExpired",
  "leaseRevoked",
  "budgetExhausted",
  "rateLimited",
  "contextOverflow",
  "conflict", // a version changed meanwhile
  "cancelled",
  "timedOut",
  "upstream", // model service, tool process or peer failed
  "gone", // the process at the other end has ended
  "storeFull",
  "storeCorrupt",
  "unavailable", // not on this machine, or not in this version
  "lowConfidence",
] as const;

/** One of {@link FAULT_CODES}. */
export type FaultCode = (typeof FAULT_CODES)[number];

const KNOWN: ReadonlySet<string> = new Set(FAULT_CODES);

/** Tells whether `code` names a fault. */
export function isFaultCode(code: string): code is FaultCode {
  return KNOWN.has(code);
}

/** An expected refusal. `message` reads `Cannot <verb> <thing>: <why>` and holds no secret. */
export class Fault extends Error {
  /** Which refusal this is. */
  readonly code: FaultCode;
  /** Machine-readable particulars, safe to show. */
  readonly detail: JsonObject | undefined;

  constructor(
    code: FaultCode,
    message: string,
    options?: { detail?: JsonObject; cause?: unknown },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Fault";
    this.code = code;
    this.detail = options?.detail;
  }
}

/** Closes a union: a case that is not handled does not compile, and throws if it is met. */
export function unreachable(value: never): never {
  throw new TypeError(`Cannot continue: unhandled case ${JSON.stringify(value)}`);
}
