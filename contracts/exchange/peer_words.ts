/** Words of calls to peers that bridges write and others read: without a parser, which a bridge does not carry. @module */
import type { Label } from "../authority/colour.ts";

/** UTF-16 units of what a peer says in one message while a call of ours is under way. */
export const PEER_SAID_UNITS = 16_384;

const TASK_WORDS = "it made a task: ";
const TASK_NAME = /^[\x21-\x7e]{1,128}$/;

/** What a call to a peer tells first of all, as progress: the name of the task that the peer made. */
export function peerTaskWords(task: string): string {
  return `${TASK_WORDS}${TASK_NAME.test(task) ? task : "its name cannot be used"}`;
}

/** The name of the peer's task, where this is the first progress of a call and says one. Untrusted. */
export function peerTaskIn(progress: string): string | undefined {
  const begin = `1 ${TASK_WORDS}`;
  const name = progress.startsWith(begin) ? progress.slice(begin.length) : "";
  return TASK_NAME.test(name) ? name : undefined;
}

const LABELS: readonly Label[] = ["public", "internal", "secret"];

/**
 * In the metadata of A2A messages and artifacts: how confidential they are, where that is more than
 * public. Between two Remits a label so stays with what it is about; whoever says one can only raise it.
 */
export const PEER_LABEL = "remit/label";

/** What metadata says of a label: nothing is public, and a word that is no label is the worst. */
export function peerLabelIn(metadata: Readonly<Record<string, unknown>> | undefined): Label {
  const said = metadata !== undefined && Object.hasOwn(metadata, PEER_LABEL)
    ? metadata[PEER_LABEL]
    : "public";
  return LABELS.find((each) => each === said) ?? "secret";
}

/** The metadata that tells a label; none for what is public. */
export function peerLabelOf(
  label: Label | undefined,
): Readonly<Record<typeof PEER_LABEL, Label>> | undefined {
  return label === undefined || label === "public" ? undefined : { [PEER_LABEL]: label };
}

/** The more confidential of two labels; contracts/authority/colour.ts without its schemas. */
export function higherLabel(a: Label, b: Label): Label {
  return LABELS.indexOf(a) >= LABELS.indexOf(b) ? a : b;
}
