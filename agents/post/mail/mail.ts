/**
 * Mail of one task: the agent's names, inbox and proposals, as tools behind the gate.
 *
 * @example
 * ```ts
 * import { makeTaskMail } from "./mail.ts";
 * import type { MailParts } from "./tool.ts";
 * function toolsOf(parts: MailParts): readonly string[] {
 *   return makeTaskMail(parts).bindings.map(({ descriptor }) => descriptor.name);
 * }
 * ```
 * @module
 */
import type { JsonObject } from "../../../contracts/base/mod.ts";
import type { GrantedCall, PowerResult, ToolBinding } from "../../../contracts/task/mod.ts";
import { adoptTools, makeLetters } from "./letters.ts";
import { MAIL_DESCRIPTORS, type MailTool } from "./descriptors.ts";
import { nameTools } from "./name_tools.ts";
import { postTools } from "./post.ts";
import { type MailAct, mailBinding, type MailParts } from "./tool.ts";
import { makeProposals } from "./proposals.ts";
import { proposalTools } from "./proposal_tools.ts";

/** A task's mail. */
export interface TaskMail {
  readonly bindings: readonly ToolBinding[];
  /** Folds the record of an earlier outcome of the task. */
  fold(record: JsonObject): void;
  /** Whether a proposal waits to be settled. */
  unfinished(): boolean;
}

/** Makes a task's mail. */
export function makeTaskMail(parts: MailParts): TaskMail {
  const letters = makeLetters(parts);
  const proposals = makeProposals(letters.dismissed);
  const { proposed, ...proposing } = proposalTools(parts, proposals);
  const acts: Readonly<Partial<Record<MailTool, MailAct>>> = {
    ...nameTools(parts),
    ...postTools(parts, letters),
    ...adoptTools(parts, letters),
    ...proposing,
  };
  const { fold } = proposals;
  const bound = (name: MailTool, act: MailAct): ToolBinding => {
    const binding = mailBinding({ ...parts, fold }, name, act);
    if (name !== "evaluate") return binding;
    return Object.freeze({
      ...binding,
      committed(call: GrantedCall, result: PowerResult): void {
        binding.committed?.(call, result);
        // The person is asked as soon as the proposal is durable.
        proposed(call);
      },
    });
  };
  const names = Object.keys(MAIL_DESCRIPTORS) as MailTool[];
  return Object.freeze<TaskMail>({
    bindings: names.flatMap((name) => {
      const act = acts[name];
      return act === undefined ? [] : [bound(name, act)];
    }),
    fold,
    unfinished: () => proposals.pending().length > 0,
  });
}
