/** Agent programs by name: apart, so that a worker loads no schemas. @module */

/** `program` of a task whose agent is Lal: it speaks in tool calls alone, and waits for what it proposed. */
export const LAL_PROGRAM = "remit:lal";

/** Whether a program is somebody else's source: not the standard one (undefined), and not Lal. */
export function isForeignProgram(program: string | undefined): boolean {
  return program !== undefined && program !== LAL_PROGRAM;
}
