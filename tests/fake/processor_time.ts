/** Processor time of work: other processes, however busy, do not lengthen it. */
import process from "node:process";

/** Milliseconds of processor time that this process has spent since its start, in all threads. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
