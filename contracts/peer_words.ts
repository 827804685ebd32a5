/** Words of calls to peers that bridges write and others read: without a parser, which a bridge does not carry. @module */

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
