/** A tool that a kernel suspended is marked in remit.lock: tasks to come are not handed it until it is reviewed. @module */
import { Fault, McpServerName } from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Command } from "../command.ts";
import { type SeenEvent, textOf } from "../audit/event_fields.ts";
import { suspendedTool } from "./events.ts";
import { lockOf } from "./work.ts";

const WHY: Readonly<Record<string, string>> = {
  missing: "its server does not offer it any more",
  changed: "it changed since it was reviewed",
};

/** Marks it, where it is one of remit.lock's. Never throws a fault: the kernel holds without it. */
export function noteSuspension(command: Command, event: SeenEvent): void {
  const tool = suspendedTool(event);
  const name = McpServerName.safeParse(textOf(event, "server"));
  if (tool === undefined || !name.success) return;
  const why = WHY[textOf(event, "why")] ?? "it is another than was reviewed";
  try {
    const lock = lockOf(command);
    const isPinned = lock.find(name.data)?.reviewed.some((each) =>
      each.tool.tool === tool && each.suspended === undefined
    );
    if (isPinned !== true) return;
    lock.change(name.data, (server) => ({
      ...server,
      reviewed: server.reviewed.map((each) =>
        each.tool.tool === tool ? { ...each, suspended: why } : each
      ),
    }));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    command.hands.screen.say(`  ${displayText(error.message, { max: 300 })}`);
  }
}
