/** A task's first process: from its request, and from its log when it goes on. @module */
import { type AgentTask, noUsage, type TaskRequest } from "../../contracts/mod.ts";
import type { NewProcess } from "../process/table.ts";
import type { Replay } from "../log/replay.ts";

/** What the process is made of. What an earlier kernel counted, read and coloured stays so. */
export function newRoot(
  task: AgentTask,
  request: TaskRequest,
  replay: Replay | undefined,
  /** The phase that it is in now: it may have been moved while it waited for its place. */
  phase = task.phase,
): NewProcess {
  const { session, ingress, profile, mounts, onQuestion } = request;
  return {
    task: task.id,
    session,
    conversation: task.id,
    principal: ingress.principal,
    profile,
    spec: request.agent?.name ?? "agent",
    ...(request.agent?.capabilities === undefined
      ? {}
      : { capabilities: request.agent.capabilities }),
    mounts,
    limits: task.limits,
    depth: 0,
    onQuestion,
    phase,
    colour: replay?.colour ?? ingress.colour,
    label: replay?.label ?? ingress.label,
    sources: [...replay?.sources ?? []],
    turn: replay?.turn ?? 0,
    usage: { ...noUsage(), ...replay?.spent },
  };
}
