/**
 * Texts that bridges write into calls to peers and that others read back; without a schema library,
 * which a bridge does not load.
 * @module
 */
import type { Label } from "../authority/colour.ts";

/** Maximum length of a peer's message during a call, UTF-16 units. */
export const PEER_SAID_UNITS = 16_384;

const TASK_WORDS = "it made a task: ";
const TASK_NAME = /^[\x21-\x7e]{1,128}$/;

/** The first progress text of a call to a peer: the id of the task that the peer made. */
export function peerTaskWords(task: string): string {
  return `${TASK_WORDS}${TASK_NAME.test(task) ? task : "its name cannot be used"}`;
}

/** The peer's task id from a call's first progress text; undefined for any other text. Untrusted. */
export function peerTaskIn(progress: string): string | undefined {
  const begin = `1 ${TASK_WORDS}`;
  const name = progress.startsWith(begin) ? progress.slice(begin.length) : "";
  return TASK_NAME.test(name) ? name : undefined;
}

const LABELS: readonly Label[] = ["public", "internal", "secret"];

/**
 * Metadata key of A2A messages and artifacts for a label above public. Between two Remits it keeps
 * the label with its content; a peer's claim can only raise a label.
 */
export const PEER_LABEL = "remit/label";

/** The label in metadata: public if absent, secret if unknown. */
export function peerLabelIn(metadata: Readonly<Record<string, unknown>> | undefined): Label {
  const said = metadata !== undefined && Object.hasOwn(metadata, PEER_LABEL)
    ? metadata[PEER_LABEL]
    : "public";
  return LABELS.find((each) => each === said) ?? "secret";
}

/** Metadata with a label; undefined for public. */
export function peerLabelOf(
  label: Label | undefined,
): Readonly<Record<typeof PEER_LABEL, Label>> | undefined {
  return label === undefined || label === "public" ? undefined : { [PEER_LABEL]: label };
}

/** The more confidential of two labels; `mixLabel` of contracts/authority/colour.ts, without zod. */
export function higherLabel(a: Label, b: Label): Label {
  return LABELS.indexOf(a) >= LABELS.indexOf(b) ? a : b;
}
