/** Names of agent programs; separate so that a worker loads no schemas. @module */
import { PLANNED_PROGRAM } from "./planned.ts";

/** `program` of a task whose agent is Lal, which communicates by tool calls only and waits for its proposals. */
export const LAL_PROGRAM = "remit:lal";

/** Whether a program is source from elsewhere: neither the standard loop (undefined) nor a built-in program. */
export function isForeignProgram(program: string | undefined): boolean {
  return program !== undefined && program !== LAL_PROGRAM && program !== PLANNED_PROGRAM;
}
