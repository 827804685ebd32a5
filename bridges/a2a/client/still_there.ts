/** A peer that answers no more, while a task of ours may go on there: how it is taken up. @module */
import { Fault } from "../../../contracts/fault.ts";
import type { Heard } from "./heard.ts";

/** The fault of a call that made a task at the peer, with the task's name. */
export function stillThere(fault: Fault, { task, over }: Heard, peer: string): Fault {
  if (task === undefined || over || fault.code === "cancelled") return fault;
  const named = JSON.stringify(task);
  return new Fault(
    fault.code,
    `${fault.message}; its task ${named} may go on there: a2a_${peer}_task, or ` +
      `\`remit a2a watch ${peer}\` with that name, takes it up`,
    { ...(fault.detail === undefined ? {} : { detail: fault.detail }), cause: fault },
  );
}
