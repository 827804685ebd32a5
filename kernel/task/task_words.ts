/** Passes the person's own words of a task on to the provenance of values and to the guards. @module */
import { DeclaredTools, type ValueKeeper } from "../../contracts/authority/origin.ts";
import type { ChatMessage } from "../../contracts/model/chat.ts";
import type { AgentTask } from "../../contracts/task/task.ts";
import type { ModelGuards } from "./model_guards.ts";
import type { Replay } from "./replay.ts";

/** Hears a task's messages. */
export interface TaskWords {
  /** Ignores messages that are not a person's own words. `at`: milliseconds since 1970. */
  said(message: ChatMessage, at?: number): void;
  /**
   * Restores an earlier kernel's state. INVARIANT: the words are those that the kernel received, not those that a worker
   * reports (test: "a worker's word for the person's …").
   */
  restore(replay: Pick<Replay, "said" | "records" | "performed" | "heard">): void;
}

/** Makes the listener of one task. */
export function makeTaskWords(
  { id }: Pick<AgentTask, "id">,
  { keeper, guards }: { readonly keeper: ValueKeeper; readonly guards: Pick<ModelGuards, "said"> },
): TaskWords {
  // A task that was suspended and resumed in the same kernel is known already.
  let known = keeper.knows(id);
  const hear = (text: string, at: number | undefined): void => {
    if (!known) keeper.said(id, { text, ...(at === undefined ? {} : { at }) });
    guards.said(text);
  };
  const said: TaskWords["said"] = ({ role, content, provenance: { origin, colour } }, at) => {
    const persons = origin === "operator" || origin === "person";
    if (role === "user" && colour === "BLUE" && persons) hear(content, at);
  };
  return Object.freeze<TaskWords>({
    said,
    restore({ said: all, records, performed, heard }): void {
      for (const { message, at } of all) said(message, at);
      const told = known;
      known = false;
      if (told) return;
      for (const { declared } of records) {
        if (declared !== undefined) keeper.declare(id, DeclaredTools.parse(declared));
      }
      for (const call of performed) keeper.performed(id, call);
      for (const each of heard) keeper.restore(id, each);
    },
  });
}
