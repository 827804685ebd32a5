/** What the bridge takes of one peer, and no more. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { cutText } from "../../mcp/client/mod.ts";

/** UTF-16 units of a card, and of the keys that it names. */
export const CARD_UNITS = 262_144;
/** Levels and values of a card. */
export const CARD_JSON = { depth: 24, nodes: 20_000, frameBytes: 1_048_576 } as const;
/** Skills of one card. */
export const SKILLS = 128;
/** Levels and values of one answer or event. */
export const ANSWER_JSON = { depth: 48, nodes: 400_000, frameBytes: 24 * 1_048_576 } as const;
/** UTF-16 units of one answer, and of one event. */
export const ANSWER_UNITS = 16 * 1_048_576;
/** Events of one stream, and UTF-16 units of all of them: a task says less. */
export const STREAM_EVENTS = 5_000;
/** See {@link STREAM_EVENTS}. */
export const STREAM_UNITS = 64 * 1_048_576;
/** Artifacts of one task, and parts of all of them. */
export const ARTIFACTS = 256;
/** See {@link ARTIFACTS}. */
export const PARTS = 1_000;
/** UTF-16 units of all parts of a result; the port's frame holds them with room for escapes. */
export const RESULT_UNITS = 12_000_000;
/** Status messages of one call that are passed on. */
export const NOTICES = 100;
/** Messages of one call that go to the inbox, by kind; units of one that is no question; artifacts that one names. */
export const SAID = {
  ...{ status: 64, question: 8, artifactReady: 2, statusUnits: 4_096, artifacts: 64 },
} as const;
/** Milliseconds before the kernel's own deadline at which a call says how to follow its task. */
export const SPARE_MS = 5_000;
/** Milliseconds between two looks at a task: the first, and the longest. */
export const POLL_MS = { first: 250, most: 5_000 } as const;
/** Milliseconds that giving up a task at the peer may take. */
export const CANCEL_MS = 5_000;

const ERROR_UNITS = 2_000;

/** Makes a fault of what the SDK threw. `verb` is `send the message`; what the peer wrote is cut. */
export function peerFault(verb: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const inner = error instanceof Error && error.cause instanceof Fault ? error.cause : undefined;
  if (inner !== undefined) return inner;
  const why = error instanceof Error ? error.message : "it failed";
  return new Fault("upstream", `Cannot ${verb}: ${cutText(why, ERROR_UNITS)}`, { cause: error });
}
