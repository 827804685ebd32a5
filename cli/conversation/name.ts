/** Parses `NAME@TURN`, and finds the task of a name. @module */
import { TaskId } from "../../contracts/authority/mod.ts";
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { recordOf } from "../command.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";

/** Parses `NAME@TURN`. Throws `invalidInput`. */
export function conversationIn(text: string): Readonly<Record<string, Json>> {
  const [, conversation, turn] = /^([^@]{1,64})(?:@([1-9]\d{0,5}))?$/.exec(text) ?? [];
  if (conversation === undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot read "${text}" as a conversation: write NAME or NAME@TURN`,
    );
  }
  return { conversation, ...(turn === undefined ? {} : { turn: Number(turn) }) };
}

/** The task with this name or id. */
export async function taskNamed(link: Pick<KernelLink, "ask">, text: string): Promise<TaskId> {
  const id = TaskId.safeParse(text);
  if (id.success) return id.data;
  const { conversation = "" } = conversationIn(text);
  const page = recordOf(await link.ask("conversation", { conversation, from: 0 }));
  return TaskId.parse(page["task"]);
}
