/** Telling of a limit that is used up: SIGXCPU. @module */
import { Fault, type Pid, type ProcessKeeper } from "../../contracts/mod.ts";

/**
 * The same keeper, which tells `exhausted` of each limit that a call ran into, by name. What is refused
 * for want of budget is refused again next time: the process is to conclude, not to try for ever.
 */
export function tellingExhaustion(
  processes: ProcessKeeper,
  exhausted: (pid: Pid, limit: string) => void,
): ProcessKeeper {
  const { get, list, taint, advertise } = processes;
  return Object.freeze<ProcessKeeper>({
    get,
    list,
    taint,
    advertise,
    charge(pid, charge): void {
      try {
        processes.charge(pid, charge);
      } catch (error) {
        const limit = error instanceof Fault ? error.detail?.["limit"] : undefined;
        if (typeof limit === "string") exhausted(pid, limit);
        throw error;
      }
    },
    wouldExceed(pid, charge): string | undefined {
      const limit = processes.wouldExceed(pid, charge);
      if (limit !== undefined) exhausted(pid, limit);
      return limit;
    },
  });
}
