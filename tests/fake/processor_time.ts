/** Time that work takes of the processor: other processes, however busy, do not lengthen it. */
import process from "node:process";

/** Milliseconds of processor time that this process has spent since it began, all threads together. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
