/** The person's own words of a task, told to whoever decides or advises by them: values of calls, guards. @module */
import { DeclaredTools, type ValueKeeper } from "../../contracts/authority/origin.ts";
import type { ChatMessage } from "../../contracts/model/chat.ts";
import type { AgentTask } from "../../contracts/task/task.ts";
import type { ModelGuards } from "./model_guards.ts";
import type { Replay } from "./replay.ts";

/** Hears a task's messages. */
export interface TaskWords {
  /** `at`: when it was said, ms since 1970. What came with a person's words, or from others, is left out. */
  said(message: ChatMessage, at?: number): void;
  /**
   * What an earlier kernel knew. INVARIANT: words are those that the kernel took in, not what a worker says of its
   * conversation (test: "a worker's word for the person's …").
   */
  restore(replay: Pick<Replay, "said" | "records" | "performed" | "heard">): void;
}

/** Makes it for one task. */
export function makeTaskWords(
  { id }: Pick<AgentTask, "id">,
  { keeper, guards }: { readonly keeper: ValueKeeper; readonly guards: Pick<ModelGuards, "said"> },
): TaskWords {
  // One that was put aside and goes on in the same kernel is known, and is not told twice.
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
