/** Where the intents of calls that are under way stand in their tasks' logs: what comes in meanwhile follows from them. @module */
import type { GrantedCall } from "../../contracts/mod.ts";
import type { Published } from "./bus.ts";

/** Places of intents, by call. */
export interface IntentPlaces {
  /** Hears what was committed. */
  saw(event: Published): void;
  of(call: Pick<GrantedCall, "task" | "pid" | "callId">): number | undefined;
}

/** Makes it. Only calls of tools that `isMeant` are remembered, each until its outcome. */
export function makeIntentPlaces(isMeant: (tool: string) => boolean): IntentPlaces {
  const places = new Map<string, number>();
  const nameOf = (task: string, pid: unknown, call: unknown): string => `${task} ${pid} ${call}`;
  return Object.freeze<IntentPlaces>({
    saw({ task, kind, n, body }): void {
      if (kind !== "intent" && kind !== "outcome") return;
      const { tool, pid, call } = body;
      if (typeof tool !== "string" || !isMeant(tool)) return;
      if (kind === "intent") places.set(nameOf(task, pid, call), n);
      else places.delete(nameOf(task, pid, call));
    },
    of: ({ task, pid, callId }) => places.get(nameOf(task, pid, callId)),
  });
}
