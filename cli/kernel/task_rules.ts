/** Finds the kernel in which a task may resume: one with the rules of the task's own folder. @module */
import type { TaskId } from "../../contracts/authority/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import { checkPin } from "../../config/agent/pins.ts";
import { agentOfTask, openAgentStore } from "../../config/agent/store.ts";
import { type Command, wishOf } from "../command.ts";
import { loadConfig } from "../../config/files.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";

/**
 * Returns `link`, where its kernel has the rules under which the task ran; else the link of a kernel with the current
 * rules of the task's folder and mounts. Throws `conflict` while the other kernel is at work.
 */
export async function inItsPlace(
  command: Command,
  link: KernelLink,
  task: TaskId,
): Promise<KernelLink> {
  const { powers, places } = command;
  const { rules, folder, mounts, labels } = AgentTask.parse(await link.ask("task", { task }));
  const foreign = agentOfTask(openAgentStore(powers.disk, places), { labels });
  if (foreign !== undefined) checkPin(powers.disk, places, foreign);
  if (rules === undefined || rules === link.rules) return link;
  const config = loadConfig(powers.disk, places, {
    folder: folder ?? powers.environment.cwd,
    mounts,
  });
  link.close();
  const own = await powers.kernels(places).provide(
    wishOf(config, { mounts: mounts.map(({ dir }) => dir), exact: true, foreign }),
  );
  if (own.rules !== rules) {
    const { paint, say } = powers.screen;
    say(paint.dim("  the rules of its folder have changed since: those of now hold"));
  }
  return own;
}
