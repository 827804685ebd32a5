/** Commands over what tasks share. @module */
import { simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";

/** Who works on what. docs/shared_resources.md. */
export const RESOURCES = family(
  [
    simple("resources list", "", [0, 0], "which task works on which part of what, and conflicts", [
      "remit resources list",
    ]),
    simple("resources show", "ID", [1, 1], "a resource, a claim or a conflict, whole", [
      "remit resources show gitRepository:site",
      "remit resources show c3k9…",
    ]),
    simple("resources release", "CLAIM", [1, 1], "end a claim: its task is told to stop there", [
      "remit resources release r3k9…",
    ]),
    simple("resources clear", "RESOURCE", [1, 1], "end its claims and take its items away", [
      "remit resources clear taskList:chores",
    ]),
    simple(
      "resources decide",
      "CONFLICT WORD",
      [2, 2],
      "share (both), release (the first gives way) or refuse (the second does)",
      ["remit resources decide c3k9… share"],
    ),
  ],
  ["screen", "disk", "around", "kernels"],
  {
    "resources list": async () => (await import("./commands.ts")).resourcesList,
    "resources show": async () => (await import("./commands.ts")).resourcesShow,
    "resources release": async () => (await import("./commands.ts")).resourcesRelease,
    "resources clear": async () => (await import("./commands.ts")).resourcesClear,
    "resources decide": async () => (await import("./commands.ts")).resourcesDecide,
  },
);
