/** Limits on what a bridge accepts from its peer. Units are UTF-16 code units. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { cutText } from "../../mcp/client/mod.ts";

/** Units of a card, and of the keys that it names. */
export const CARD_UNITS = 262_144;
/** Limits of a card's JSON. */
export const CARD_JSON = { depth: 24, nodes: 20_000, frameBytes: 1_048_576 } as const;
/** Skills of one card. */
export const SKILLS = 128;
/** Limits of the JSON of an answer or event. */
export const ANSWER_JSON = { depth: 48, nodes: 400_000, frameBytes: 24 * 1_048_576 } as const;
/** Units of an answer, and of an event. */
export const ANSWER_UNITS = 16 * 1_048_576;
/** Events of one stream. */
export const STREAM_EVENTS = 5_000;
/** Units of all events of a stream. */
export const STREAM_UNITS = 64 * 1_048_576;
/** Artifacts of one task. */
export const ARTIFACTS = 256;
/** Parts of all artifacts of a task. */
export const PARTS = 1_000;
/** Units of all parts of a result; the port's frame holds them with room for escapes. */
export const RESULT_UNITS = 12_000_000;
/** Status messages of one call that are passed on. */
export const NOTICES = 100;
/** Messages of one call for the inbox by kind, units of one that is no question, artifacts in one. */
export const SAID = {
  ...{ status: 64, question: 8, artifactReady: 2, statusUnits: 4_096, artifacts: 64 },
} as const;
/** Milliseconds before the kernel's deadline at which a call returns how to follow its task. */
export const SPARE_MS = 5_000;
/** Milliseconds between two polls of a task: at first, and at most. */
export const POLL_MS = { first: 250, max: 5_000 } as const;
/** Milliseconds for cancelling a task at the peer. */
export const CANCEL_MS = 5_000;

const MAX_ERROR_UNITS = 2_000;

/** Converts an error of the SDK; `verb` is like `send the message`. The peer's own text is cut. */
export function peerFault(verb: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const inner = error instanceof Error && error.cause instanceof Fault ? error.cause : undefined;
  if (inner !== undefined) return inner;
  const why = error instanceof Error ? error.message : "it failed";
  return new Fault("upstream", `Cannot ${verb}: ${cutText(why, MAX_ERROR_UNITS)}`, {
    cause: error,
  });
}
