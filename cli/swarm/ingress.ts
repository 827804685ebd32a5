/** How a request of a swarm comes in. @module */
import { type Label, mixColour, mixLabel } from "../../contracts/authority/mod.ts";
import type { TaskRequest } from "../../contracts/task/mod.ts";
import type { TaskAsk } from "../../swarm/mod.ts";

/**
 * The ingress of a swarm's task. The kernel makes one task of a schedule's session, however often it is asked.
 * `own`: the label of the person's folder.
 *
 * An issue is the words of whoever wrote it: YELLOW. An earlier task may have read anything and repeats what it likes:
 * with its words the request is RED, and as confidential as what that task had read. A change that is merged in the
 * tree was reviewed by no person: whoever works on it has the colour and the label of its author.
 */
export function ingressOf(
  asked: Pick<TaskAsk, "swarm" | "work" | "heard" | "label" | "merged">,
  own: Label,
): TaskRequest["ingress"] {
  return {
    ...{ channel: "schedule", principal: `swarm:${asked.swarm}` },
    colour: asked.work === "author" && !asked.heard ? mixColour("YELLOW", asked.merged) : "RED",
    label: mixLabel(own, asked.label),
  };
}
