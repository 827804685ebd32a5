/** The shape of slash commands, and their shared functions. @module */
import type { TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { Session } from "./session.ts";

/** One slash command. */
export interface Slash {
  readonly takes?: string;
  readonly help: string;
  /** Changes the state that a running turn works with: refused until the turn is over. */
  readonly waits?: true;
  run(session: Session, word: string | undefined): Promise<void>;
}

/** The session's task. Throws Fault `notFound` before the first request. */
export function taskOf({ running }: Session): TaskId {
  if (running === undefined) throw new Fault("notFound", "Cannot show it: nothing was asked yet");
  return running.id;
}

/** Shows safe lines. */
export function show({ command }: Session, lines: readonly string[]): void {
  for (const each of lines) command.powers.screen.say(`  ${each}`);
}
