/** The ingress of a swarm's requests. @module */
import { type Label, mixLabel } from "../../contracts/authority/mod.ts";
import type { TaskRequest } from "../../contracts/task/mod.ts";
import type { TaskAsk } from "../../swarm/mod.ts";

/**
 * The ingress of a swarm's task, from a schedule: repeated requests of one session make one task. `own`: the label of the
 * person's folder.
 *
 * An issue is somebody's words: YELLOW. An earlier task may have read anything and may repeat it: a request with its words
 * is RED, and as confidential as what that task had read.
 */
export function ingressOf(
  asked: Pick<TaskAsk, "swarm" | "work" | "heard" | "label">,
  own: Label,
): TaskRequest["ingress"] {
  return {
    ...{ channel: "schedule", principal: `swarm:${asked.swarm}` },
    colour: asked.work === "author" && !asked.heard ? "YELLOW" : "RED",
    label: mixLabel(own, asked.label),
  };
}
