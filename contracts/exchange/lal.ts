/** Agent programs by name: apart, so that a worker loads no schemas. @module */
import { PLANNED_PROGRAM } from "./planned.ts";

/** `program` of a task whose agent is Lal: it speaks in tool calls alone, and waits for what it proposed. */
export const LAL_PROGRAM = "remit:lal";

/** Whether a program is somebody else's source: not the standard one (undefined), and not one of the box. */
export function isForeignProgram(program: string | undefined): boolean {
  return program !== undefined && program !== LAL_PROGRAM && program !== PLANNED_PROGRAM;
}
